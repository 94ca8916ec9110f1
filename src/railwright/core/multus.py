"""
Names of the annotations by which pods and networks find each other, each once.

Source: Network Plumbing Working Group, "Kubernetes Network Custom Resource Definition De-facto Standard" 1.3, sections 4
and 5; k8snetworkplumbingwg/multus-cni 28e3dc0, pkg/k8sclient/k8sclient.go, its constants.
"""

PREFIX = "k8s.v1.cni.cncf.io/"
NETWORKS = PREFIX + "networks"
"""On a pod: the networks that it asks for."""
NETWORK_STATUS = PREFIX + "network-status"
"""On a pod: what Multus gave it (facts/sources/network_status.py reads it)."""
RESOURCE_NAME = PREFIX + "resourceName"
"""On a NetworkAttachmentDefinition: the resource that a pod has to ask for with it."""
