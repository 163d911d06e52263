module newrelic-exporter.local/ci/custom-resources

go 1.26.0

require (
	github.com/kedacore/keda/v2 v2.21.0
	github.com/prometheus-operator/prometheus-operator v0.93.0
	k8s.io/autoscaler/vertical-pod-autoscaler v1.8.1
	sigs.k8s.io/gateway-api v1.4.0
)
