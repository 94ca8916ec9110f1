"""
`compare(desired, live) -> Changes`: what a write would do, field by field. Pure.

Owns: create, update, unchanged, adopt; old value, new value and owner of each field; strings that hold several
owners' entries, merged and undone entry by entry; the inverse, for clean.
Must not: write.
"""
