"""
A real Kubernetes control plane on loopback: etcd, kube-apiserver and kube-controller-manager, built and started here.

Owns: the recipe of the programs and their cache, processes and their end, definitions and nodes that a cluster would
have, and the loop that runs stand-ins by watch.
Must not: know what it is used to judge.
"""
