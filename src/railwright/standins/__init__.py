"""
What operators, kubelets and device plugins do to objects, as pure `react(world, now) -> writes`, one file an operator.

Owns: behaviour recorded from the real operators, on a time scale; stepped by the simulator, run by watch on a real
API server in the lab.
Must not: know what it is used to judge.
"""
