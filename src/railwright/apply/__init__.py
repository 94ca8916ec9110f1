"""
Changes of one stage -> the cluster; the one writer of everything on a user's cluster.

Owns: the writer, the ledger (written before each effect), the gate (same answer held for some seconds).
Must not: decide what is written.
"""
