"""
What a transfer proves: one file a witness, each a pure function from what halves answered to a Testimony.

Owns: how a witness agrees, contradicts, or cannot be used. Must not: decide whether a cell passes (verify/judge.py).
"""
