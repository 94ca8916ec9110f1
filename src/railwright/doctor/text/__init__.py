"""
Rules on text: log lines of kubelet, operators, driver containers, kernel, NCCL, UCX, NIXL and perftest, and events.

Pasted (`diagnose_text`) or kept in a Snapshot. Rules are tables (`driver.py`, `cluster.py`, ...), listed in `table.py`;
they match by meaning (`signals.py`), never by one literal line. Must not: parse a tool's figures, which is facts' work.
"""
