"""
Words every package shares: ids, verdicts, errors, Kubernetes object references, redaction, version.

Owns: the types that have no meaning of their own in one stage of the pipeline.
Must not: import anything of ours, or anything outside the standard library.

Our abbreviations, all of them: NAD (NetworkAttachmentDefinition), PF, VF, NIC, NFD, OLM, CSV, SCC.
"""
