"""
`diagnose(Snapshot, Catalog, Plan or None) -> Diagnosis`: what is wrong, the evidence, the cause, the remedy.

Owns: rules, one file an area (`rules/`), listed in `registry.py`; rules on pasted text (`text/`); the order of
findings by cause.
Must not: collect, wait or write; a remedy is text and an object patch, which pipeline turns into changes.
"""
