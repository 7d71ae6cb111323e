"""The report of an audit for people."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dpaudit.sample.report import Judged, Report


def report_lines(report: Report) -> list[str]:
    """Return the report, line by line."""
    return list(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield f"{report.status}  {report.target}: {report.words}"
    yield (
        f"  {report.arms} arms, horizon {report.horizon:,}, seed {report.seed}; "
        f"{report.runs:,} of {report.runs_planned:,} runs; {report.pairs_tried} pairs tried"
    )
    yield f"  epsilon >= {report.lower:.4f} with probability at least {1 - report.error:.6g}"
    yield f"  independence: {report.independence}"
    for judged in report.hypotheses:
        yield from _hypothesis(judged)


def _hypothesis(judged: Judged) -> Iterator[str]:
    mark = f"  REFUTED by {judged.refuted}" if judged.refuted else ""
    yield f"  pair {judged.pair} | {judged.event} | {judged.direction}"
    yield (
        f"    {judged.hits:,} against {judged.hits_other:,} of {judged.rounds:,} fresh runs; "
        f"epsilon >= {judged.lower:.4f}; evidence 10^{judged.evidence / math.log(10):.2f}, "
        f"needed 10^{judged.evidence_needed / math.log(10):.2f}{mark}"
    )
