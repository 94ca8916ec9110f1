"""
The ports for real: a kubeconfig's API server, exec in pods, this machine; archives as read-only clusters.

Owns: foreign clients and their errors, which end here.
Must not: know what it is used to judge.
"""
