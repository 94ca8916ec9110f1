"""
What runs inside a pod or a guest: the verbs engine, perftest and NIXL drivers, evidence probes.

Owns: request and reply types, raw text and numbers; standard library only, extras imported late.
Must not: know Kubernetes, or parse a tool's output.
"""
