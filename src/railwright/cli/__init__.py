"""
The command line: translate in, call railwright.api, translate out.

Owns: options, formats, exit codes, progress on a terminal.
Must not: hold logic.
"""
