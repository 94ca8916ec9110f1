"""
Records -> text, JSON, and later JUnit and HTML.

Owns: the envelope that every machine-readable output shares, and how each payload reads.
Must not: decide.
"""
