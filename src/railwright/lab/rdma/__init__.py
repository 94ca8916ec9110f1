"""
Real RDMA on a machine that has none: a small virtual machine, soft-RoCE, network namespaces as nodes and pods.

Owns: building and booting the machine, its nodes and pods, the endpoints in them, and what can be broken there.
Must not: judge; whoever measures gets endpoints, as on a cluster.
"""
