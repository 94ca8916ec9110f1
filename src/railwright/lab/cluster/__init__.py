"""
A Kubernetes cluster of virtual machines: real kubelets, container runtime, CNI, device plugins and soft-RoCE.

Owns: the node's disk and images, its network, how nodes join the real control plane, what stands in for NVIDIA's
operators there, and how all of it ends.
Must not: know what it is used to judge.
"""
