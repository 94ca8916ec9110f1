"""
`diagnose(Snapshot, Catalog, Plan or None) -> tuple[Finding, ...]`: what is wrong, the evidence, the cause, the fix.

Owns: rules, one file an area.
Must not: collect, or write. Not begun yet.
"""
