"""
A real Kubernetes control plane on loopback, and real operators on it: built and started here.

Owns: the recipe of the programs and their cache, processes and their end, definitions and nodes that a cluster would
have, the runners of OLM, the SR-IOV operator, NFD, the scheduler and KWOK, and the loop that runs stand-ins by watch.
Must not: know what it is used to judge.
"""
