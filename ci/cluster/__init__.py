"""A real Kubernetes on this machine, for tests: control plane, kubelet and containerd are processes of the host.

`python -m ci.cluster up` boots it; `layout` defines its folders and addresses. Its data is not synced to disk, because
`down` deletes it. The host processes that serve pods (DNS, volumes) have administrator rights.

It has one node, and a second one on demand (`add-node`), with its own containerd, kubelet and pod addresses.

It enforces NetworkPolicies on demand (`network-policies enforce`), for the pods of the first node: its network ignores
them. It has no LoadBalancer addresses, and cannot resize or snapshot volumes.
"""
