"""
One HTML file that opens offline: no request, no font, no script from anywhere; readable without script, and on paper.

Names come from clusters and may be anything: text becomes part of a page only through element.py, which escapes it.
"""

from railwright.report.verification.html.page import to_html

__all__ = ["to_html"]
