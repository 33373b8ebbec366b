module lsql-runner/ci/cluster/crds

go 1.26.0

require (
	github.com/kedacore/keda/v2 v2.18.0
	github.com/prometheus-operator/prometheus-operator v0.85.0
	sigs.k8s.io/gateway-api v1.6.0
)
