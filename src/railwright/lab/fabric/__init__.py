"""
An InfiniBand subnet without hardware: ibsim plays HCAs and switches, a real OpenSM brings it up, real tools read it.

Owns: the programs (unpacked aside, nothing is installed), topology, starting and ending.
Must not: claim a data path: ibsim moves management datagrams only, no verbs, no bytes.
"""
