"""
What is known of hardware, versions and expectations: YAML files, each entry with a source and a date, and typed look-ups.

Owns: every number and claim about NICs, GPUs, machines, operator and driver versions; always passed as a value.
Must not: judge, or look at a cluster.
"""
