"""
Our verbs engine: RC WRITE and READ over libibverbs, called through ctypes, so that nothing is built on the target.

Owns: queue pairs, registered memory, timed loops, checksums at both ends.
Must not: parse what tools print, or judge what it measured.
"""
