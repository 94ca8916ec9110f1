"""
Real things on this machine: `controlplane/` (etcd, kube-apiserver and friends, built and started).

Owns: building, caching, starting and ending real programs.
Must not: know what it is used to judge.
"""
