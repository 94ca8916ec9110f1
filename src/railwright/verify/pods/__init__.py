"""
Pods as endpoints: halves run in them by exec, whatever image they are of.

Owns: how our probes come into a pod that has Python, and how perftest alone is run in one that has none.
Must not: make or remove pods (pipeline does, through apply's writer).
"""
