"""
A VerifyRecord for people and machines: text, JSON, JUnit, one HTML page, and the files that keep a run.

Owns: how a run reads. Must not: judge, or reach for anything outside the record.
"""
