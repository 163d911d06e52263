// Command external-metrics answers as prometheus-adapter does: it reads the adapter's configuration with
// the adapter's own code, asks a Prometheus as the adapter asks, and prints the values
// that the API external.metrics.k8s.io would give a HorizontalPodAutoscaler, one in each line.
//
//	external-metrics CONFIG_FILE PROMETHEUS_URL NAMESPACE METRIC SELECTOR
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/custom-metrics-apiserver/pkg/provider"
	"sigs.k8s.io/prometheus-adapter/pkg/client"
	"sigs.k8s.io/prometheus-adapter/pkg/config"
	external "sigs.k8s.io/prometheus-adapter/pkg/external-provider"
	"sigs.k8s.io/prometheus-adapter/pkg/naming"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 5 {
		return fmt.Errorf("usage: external-metrics CONFIG_FILE PROMETHEUS_URL NAMESPACE METRIC SELECTOR")
	}
	rules, err := config.FromFile(arguments[0])
	if err != nil {
		return err
	}
	// No resource is looked up: none of the rules has a template.
	namers, err := naming.NamersFromConfig(rules.ExternalRules, apimeta.NewDefaultRESTMapper([]schema.GroupVersion{}))
	if err != nil {
		return err
	}
	address, err := url.Parse(arguments[1])
	if err != nil {
		return err
	}
	selector, err := labels.Parse(arguments[4])
	if err != nil {
		return err
	}
	return answer(namers, address, arguments[2], arguments[3], selector)
}

func answer(namers []naming.MetricNamer, address *url.URL, namespace, metric string, selector labels.Selector) error {
	api := client.NewGenericAPIClient(http.DefaultClient, address, nil)
	provide, lister := external.NewExternalPrometheusProvider(client.NewClientForAPI(api, http.MethodGet), namers, time.Hour, time.Hour)
	stop := make(chan struct{})
	defer close(stop)
	lister.RunUntil(stop)
	for deadline := time.Now().Add(10 * time.Second); len(provide.ListAllExternalMetrics()) == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	info := provider.ExternalMetricInfo{Metric: metric}
	values, err := provide.GetExternalMetric(context.Background(), namespace, selector, info)
	if err != nil {
		return err
	}
	for _, item := range values.Items {
		fmt.Println(item.Value.String())
	}
	return nil
}
