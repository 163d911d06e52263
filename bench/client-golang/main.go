// Serves the gauges of a page with client_golang, as an exporter in Go has them. Argument: the file
// with the page. Prints its port. One value changes before each scrape.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func labelsOf(metric *dto.Metric) prometheus.Labels {
	labels := prometheus.Labels{}
	for _, pair := range metric.GetLabel() {
		labels[pair.GetName()] = pair.GetValue()
	}
	return labels
}

func register(registry *prometheus.Registry, family *dto.MetricFamily) *prometheus.GaugeVec {
	var names []string
	for _, pair := range family.GetMetric()[0].GetLabel() {
		names = append(names, pair.GetName())
	}
	opts := prometheus.GaugeOpts{Name: family.GetName(), Help: family.GetHelp()}
	gauge := prometheus.NewGaugeVec(opts, names)
	registry.MustRegister(gauge)
	for _, metric := range family.GetMetric() {
		gauge.With(labelsOf(metric)).Set(metric.GetGauge().GetValue())
	}
	return gauge
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(file)
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	var changing prometheus.Gauge
	for _, family := range families {
		gauge := register(registry, family)
		changing = gauge.With(labelsOf(family.GetMetric()[0]))
	}
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	http.HandleFunc("/metrics", func(response http.ResponseWriter, request *http.Request) {
		changing.Inc()
		metrics.ServeHTTP(response, request)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, nil))
}
