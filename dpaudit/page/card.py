"""A report as a card in a notebook: the verdict, the claim, the bracket, one line per check.

Everything is inline, since a notebook has a style sheet of its own; colours are read off the
notebook's text where no meaning hangs on them, so that light and dark both work.
"""

from __future__ import annotations

from dpaudit.judging import Report
from dpaudit.page.algorithm import likely, sentence
from dpaudit.page.bracket import bracket
from dpaudit.page.markup import Markup, join, tag
from dpaudit.report import conclusion
from dpaudit.verdict import Status

COLOURS = {
    Status.PROVED: "#00734f",
    Status.HOLDS: "#00734f",
    Status.SILENT: "#7a5900",
    Status.REFUTED: "#b04500",
}
STYLE = """
.dpaudit-card{border:1px solid #8888;border-radius:6px;padding:.6em .9em;max-width:46em}
.dpaudit-card svg{max-width:30em;width:100%;fill:currentColor;font:14px sans-serif}
.dpaudit-card .axis{stroke:currentColor;fill:none}
.dpaudit-card .f1{fill:#2b7bb9;stroke:#2b7bb9}
.dpaudit-card .claim{stroke:#c65911;stroke-width:2}
.dpaudit-card .f2{fill:#c65911}
.dpaudit-card .likely{fill:#fff;stroke:#a04a80;stroke-width:2.5}
.dpaudit-card td{text-align:left;vertical-align:top}
"""


def card(report: Report) -> Markup:
    """Return the card of a report."""
    claim = report.claim
    verb = "claims" if claim.own else "is judged against"
    rows = [
        tag("tr", tag("td", it.check), tag("td", _word(it.status)), tag("td", conclusion(it)))
        for it in report.findings
    ]
    inside = report.bracket
    sampled = likely(report)[0] if claim.notion is None else 0.0
    return tag(
        "div",
        tag("style", Markup(STYLE)),
        join(_word(report.verdict), " ", tag("strong", claim.algorithm)),
        f" {verb} {claim.judged} ({claim.arms} arms, {claim.horizon:,} rounds).",
        bracket(inside.lower, inside.upper, claim.judged.bound, sampled, inside.measure),
        tag("div", sentence(report)),
        tag("details", tag("summary", "How we know"), tag("table", rows)),
        class_="dpaudit-card",
    )


def _word(status: Status) -> Markup:
    style = f"color:#fff;background:{COLOURS[status]};border-radius:4px;padding:0 .4em"
    return tag("span", status, style=style)
