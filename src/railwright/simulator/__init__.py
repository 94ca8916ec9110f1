"""
The ports in memory, on a simulated clock: `sim:WORLD[+FAULT...][@STATE.json]`.

Owns: worlds, faults (which act on hardware, kernel, kubelet or operators, never on a field that a rule reads), an
object store with server-side apply. It refuses what it was not taught; schema validation is the real API server's.
Must not: know what it is used to judge.
"""
