"""
Plan + Endpoints -> VerifyRecord: schedule, families (what to run), witnesses (what it proves).

Owns: which cells are measured, in which order, and what the measurements prove.
Must not: explain causes, or parse. Not begun yet: the stage `verified` is SKIP with that reason.
"""
