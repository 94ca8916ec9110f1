"""How a verdict looks: a word, a sign and a class, so that nothing depends on colour alone."""

from railwright.core.verdicts import Verdict
from railwright.report.verification.html.element import Element, el

SIGNS = {Verdict.PASS: "\u2713", Verdict.FAIL: "\u2717", Verdict.UNKNOWN: "?", Verdict.SKIP: "\u2013"}
CODES = {Verdict.PASS: "p", Verdict.FAIL: "f", Verdict.UNKNOWN: "u", Verdict.SKIP: "s"}
NOTHING = "."
"""In the data of a large matrix: nothing was planned there."""


def badge(verdict: Verdict) -> Element:
    """Write a verdict as a small label."""
    return el("span", f"{SIGNS[verdict]} {verdict.value}", class_=f"badge {CODES[verdict]}")


def sign(verdict: Verdict) -> Element:
    """Write a verdict as its sign alone, with its word for who listens."""
    return el("span", SIGNS[verdict], class_=f"sign {CODES[verdict]}", aria_label=verdict.value, role="img")
