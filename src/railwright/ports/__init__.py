"""
The only ways out of railwright, as protocols: Cluster, Node, Clock, Progress, Approval.

Owns: the signatures and the plain types that cross them; the promises every implementation keeps, which
tests/contract holds the simulator, the archive and a real control plane to.
Must not: do I/O, or know who implements it.
"""
