"""
`plan(tuple[Intent, ...], Snapshot, Catalog) -> Plan`: decide everything, say why, write nothing.

Owns: rails and NIC roles with reasons, admission, what may not be cut, the stage table (`stages.py`), the six
profiles (`profiles/`), fabrics composed into shared objects (`compose.py`).
Must not: render objects, or do I/O.
"""
