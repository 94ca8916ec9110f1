"""
`judge(object, companions, receipt, now) -> Readiness`: is it really there?

Owns: one judge a kind (`kinds/`, listed in `judges.py`), and one a node expectation; used by gates, status and rules.
Must not: wait, read, or trust a status that may be older than our write.
"""
