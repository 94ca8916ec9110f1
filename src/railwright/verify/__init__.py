"""
Plan + Endpoints -> VerifyRecord: schedule, families (what to run), witnesses (what it proves), and who is to blame.

Owns: which cells are measured, in which order, what the measurements prove, and where failures are narrowed to.
Must not: explain causes (the doctor does), parse a tool's words (facts/sources does), make or remove pods (pipeline
does, through apply's writer).
"""
