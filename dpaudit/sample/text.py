"""The report of an audit for people."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence

from dpaudit.core.arithmetic import at_least, in_digits
from dpaudit.sample.report import AuditConclusion, Judged


def report_lines(report: AuditConclusion) -> list[str]:
    """Return the report, line by line."""
    return list(_lines(report))


def fitted(lines: Sequence[str], width: int) -> str:
    """Return lines as a text of a width: what is said of a word hangs beside it."""
    found: list[str] = []
    for line in lines:
        hang = re.match(r" *\S+(?: \S+)*?  +", line)
        below = " " * (hang.end() if hang else 0)
        found += textwrap.wrap(line, width, subsequent_indent=below, break_on_hyphens=False)
    return "\n".join(found)


def _lines(report: AuditConclusion) -> Iterator[str]:
    sure = f"wrong with probability at most {in_digits(report.error)}"
    yield f"{report.status}  {report.target}: {report.words}"
    at = f" at epsilon = {in_digits(report.epsilon)}" if report.delta else ""
    below = f"every {report.measure} below {at_least(report.lower, 4)}{at} ({sure})"
    yield f"  excluded      {below if report.lower else 'nothing'}"
    for judged in report.hypotheses:
        yield from _hypothesis(judged, report.epsilon)
    yield (
        f"  runs          {report.runs:,} of {report.runs_planned:,}, {report.pairs_tried} pairs; "
        f"{report.arms} arms, horizon {report.horizon:,}, seed {report.seed}"
    )
    yield f"  independence  {report.independence}"


def _hypothesis(judged: Judged, epsilon: float) -> Iterator[str]:
    sides = ("stream", "neighbour")
    if judged.direction.startswith("neighbour"):
        sides = sides[::-1]
    times = judged.hits / judged.hits_other if judged.hits_other else math.inf
    ratio = f"{times:.3g} to 1" if judged.hits_other else "never there"
    yield f"  pair          {judged.pair}"
    yield f"  what tells    {judged.event}"
    yield (
        f"  how often     {judged.hits:,} of {judged.rounds:,} runs on the {sides[0]}, "
        f"{judged.hits_other:,} on the {sides[1]}: {ratio}; e^epsilon is {math.exp(epsilon):.3g}"
    )
    yield (
        f"  odds          {_odds(judged.evidence)} against the claim, "
        f"{_odds(judged.evidence_needed)} refute it"
    )


def _odds(evidence: float) -> str:
    """Return wealth e^evidence in words."""
    if evidence > 12:
        return f"10^{evidence / math.log(10):.1f} to 1"
    wealth = math.exp(evidence)
    return f"{wealth:,.{0 if wealth >= 100 else 1}f} to 1"
