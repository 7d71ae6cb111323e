"""Reports for people: of an audit and of a trace."""

from __future__ import annotations

import math
from collections.abc import Iterator

from dpaudit.sample.report import Judged, Report
from dpaudit.sample.trace import Diagnosis


def report_lines(report: Report) -> list[str]:
    """Return the report, line by line."""
    return list(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield f"{report.status}  {report.target}: {report.words}"
    yield (
        f"  {report.arms} arms, horizon {report.horizon}, seed {report.seed}; "
        f"{report.runs} of {report.runs_planned} runs, {report.training_runs} planned to train; "
        f"{report.pairs_tried} pairs tried"
    )
    yield f"  epsilon >= {report.lower:.4f} with probability at least {1 - report.error:.6g}"
    yield f"  independence: {report.independence}"
    for judged in report.hypotheses:
        yield from _hypothesis(judged)
    yield from _budget(report)


def _hypothesis(judged: Judged) -> Iterator[str]:
    mark = f"  REFUTED by {judged.refuted}" if judged.refuted else ""
    yield f"  pair {judged.pair} | {judged.event} | {judged.direction}"
    yield (
        f"    {judged.hits} against {judged.hits_other} of {judged.rounds} fresh runs; "
        f"epsilon >= {judged.lower:.4f}; evidence 10^{judged.evidence / math.log(10):.2f}, "
        f"needed 10^{judged.evidence_needed / math.log(10):.2f}{mark}"
    )


def _budget(report: Report) -> Iterator[str]:
    yield f"  error budget {report.error:g}:"
    for act in report.budget["parts"]:
        rest = "" if "parts" in act else ", unspent"
        yield f"    {act['error']:.3g} for the {act['label']}{rest}"
        for part in act.get("parts", []):
            inner = part["parts"]
            looks = len(inner[0].get("parts", []))
            each = f"{len(inner)} hypotheses at {inner[0]['error']:.3g} each"
            over = f", over {looks} looks" if looks else ""
            yield f"      {part['error']:.3g} for {part['label']}: {each}{over}"


def trace_lines(found: Diagnosis) -> list[str]:
    """Return a diagnosis, line by line."""
    return list(_trace_lines(found))


def _trace_lines(found: Diagnosis) -> Iterator[str]:
    word = "SUSPICIOUS" if found.suspicious else "NOTHING FOUND, which is not a proof"
    yield f"{word}  {found.target} against epsilon = {found.epsilon:g}"
    yield (
        f"  {found.pairs} pairs traced; {found.releases} releases in a run; "
        f"largest charge of one changed reward: {found.charge:.4g}"
    )
    for leak in found.leaks:
        yield f"  release too large for its noise: {leak.place}"
        yield (
            f"    changed by {leak.change:.4g} under {leak.law} noise of scale {leak.scale:.4g}: "
            f"loss up to {leak.charge:.4g} (pair {leak.pair.name})"
        )
    if found.charge > found.allowed and not found.leaks:
        pair = found.charge_pair.name if found.charge_pair else ""
        yield f"  releases too large in sum: one reward enters several (pair {pair})"
    if found.unnoised is not None:
        gap = found.unnoised
        yield (
            f"  action {gap.step + 1} differs ({gap.arm} or {gap.arm_neighbour}) although every "
            f"released value is the same (pair {gap.pair.name}, seed {gap.seed}):"
        )
        yield "    it depends on a reward that was never noised"
        for place in gap.places:
            yield f"    used without noise: {place}"
