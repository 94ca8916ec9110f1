"""
What would happen to bytes between the rails of simulated nodes, and what tools would print of it.

Owns: the truth of a way (wires.py), replies in the tools' own words (halves.py, words.py), endpoints over it.
Must not: know how any of it is judged. Nothing here is a measurement: whatever comes of it is marked as simulated.
"""
