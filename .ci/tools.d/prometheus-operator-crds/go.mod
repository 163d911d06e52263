module newrelic-exporter.local/ci/prometheus-operator-crds

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.93.0
