"""A real Kubernetes on this machine, for tests: control plane, kubelet and containerd as plain processes of the host.

`python -m ci.cluster up` boots it; `layout` says where everything is. It is thrown away with `down`, so nothing in
it is made to last, and what serves pods from the host (DNS, volumes) has the administrator's rights.

What it does not do: enforce NetworkPolicy (the ptp network has no such part; policies are accepted), give
LoadBalancer addresses, have a second node, resize or snapshot volumes.
"""
