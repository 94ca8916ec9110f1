"""
rails.yaml and flags -> Intent: what a person wants.

Owns: the document's shape, its JSON Schema, defaults that need no cluster, and all mistakes of a file at once, each
with file, line, column, key path, expected and seen.
Must not: look at a cluster.
"""
