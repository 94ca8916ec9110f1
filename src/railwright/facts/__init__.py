"""
What is really there: `discover(Cluster, Node, Scope, Progress) -> Snapshot`.

Owns: the frozen Snapshot with its raw records, the node script, the pure parsers (one file a source, the only
parsers of any tool's output), the PCI tree and its distances.
Must not: judge what it finds, or choose anything.
"""
