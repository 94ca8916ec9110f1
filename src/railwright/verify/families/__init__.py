"""
What is run for a cell, and what its numbers are: one file a family, listed in table.py.

Owns: requests of both halves, reading of their replies. Must not: parse a tool's words itself (facts/sources does),
or judge directness and speed (verify/judge.py does).
"""
