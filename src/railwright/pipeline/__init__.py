"""
The loop: discover, plan, render, compare, ask, apply one stage with its gate, discover again.

Owns: the order of steps, status and clean.
Must not: decide what is on the cluster, or write to it other than through apply.
"""
