"""Read the JSON of `check` back: a report, or one line that says what is wrong with the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpaudit import documents
from dpaudit.errors import InvalidArgument
from dpaudit.judging import SCHEMA, Report
from dpaudit.particulars import Details
from dpaudit.verdict import Status, Witness

TEXTS = {"target", "algorithm", "parameters", "neighbours", "reason", "streams", "check"}
TEXTS |= {"hypothesis", "covers", "command", "flaw", "missing"}


def read(path: Path) -> Report:
    """Return the report in a file that `check --json` wrote; anything else costs one line."""
    import msgspec

    data = documents.load(path)
    _require_report(path, data)
    if _undefined(data):
        raise InvalidArgument("file", path, "is not a report of `check`: it holds a nan.")
    try:
        # not strict: infinite numbers are written as strings
        report = msgspec.convert(data, Report, strict=False)
        _require_sense(report)
    except (msgspec.ValidationError, ValueError) as error:
        raise InvalidArgument("file", path, f"is not a report of `check`: {error}") from None
    return report


def _undefined(data: Any) -> bool:
    """Tell whether some number is nan, which `check` never writes; a text may say nan."""
    if isinstance(data, dict):
        return any(_undefined(item) for key, item in data.items() if key not in TEXTS)
    if isinstance(data, list):
        return any(_undefined(item) for item in data)
    return isinstance(data, str) and data.strip().lower() in ("nan", "-nan", "+nan")


def _require_report(path: Path, data: Any) -> None:
    if not isinstance(data, dict) or "verdict" not in data or "findings" not in data:
        rule = "is not a report of `check --json`."
        if isinstance(data, dict) and "stream" in data and "neighbour" in data:
            rule = "is a counterexample, not a report; `replay` recomputes it."
        elif isinstance(data, dict) and "hypotheses" in data:
            rule = "is a report of `audit`; a page is made from one of `check --json`."
        raise InvalidArgument("file", path, rule)
    schema = data.get("schema", SCHEMA)
    if schema != SCHEMA:
        rule = f"is a report of schema {schema}; this version reads schema {SCHEMA}."
        raise InvalidArgument("file", path, rule)


def _require_sense(report: Report) -> None:
    """Raise `ValueError` where the parts of a report do not fit together."""
    claim = report.claim
    other = claim.notion is not None
    _require(claim.epsilon > 0, "the claimed epsilon must be positive.")
    _require(other == (claim.epsilon == float("inf")), "it is unclear which notion is claimed.")
    _require(claim.arms >= 1 and claim.horizon >= 1, "arms and horizon must be positive.")
    concluded = {finding.status for finding in report.findings}
    _require(
        report.verdict is Status.SILENT or report.verdict in concluded,
        f"it says {report.verdict}, which none of its findings concludes.",
    )
    for finding in report.findings:
        ends = (finding.epsilon_lower, finding.epsilon_upper)
        _require(ends[0] <= ends[1] and ends[1] >= 0, "a finding's bounds cross.")
        if finding.witness is not None:
            _require_pair(finding.witness)
        for course in finding.courses:
            lengths = {len(course.rounds), len(course.evidence), len(course.lower)}
            _require(len(lengths) == 1, "an audit's course has rows of different lengths.")
    if report.details is not None:
        _require_details(report.details)


def _require_pair(witness: Witness) -> None:
    lengths = {len(witness.actions), len(witness.stream), len(witness.neighbour)}
    _require(len(lengths) == 1, "a witness has rows of different lengths.")
    _require(0 <= witness.position < len(witness.stream), "a witness changes no reward.")


def _require_details(details: Details) -> None:
    pair, regret = details.profile, details.regret
    _require(all(one.horizon >= 1 for one in details.losses), "a loss has no horizon.")
    if pair is not None:
        rows = {len(pair.stream), len(pair.neighbour), len(pair.actions)}
        grid = {len(pair.epsilons), len(pair.delta), len(pair.delta_neighbour)}
        _require(len(rows) == len(grid) == 1, "a profile has rows of different lengths.")
        _require(len(pair.alpha) == len(pair.beta) > 0, "a trade-off curve has no corners.")
        _require(len(pair.epsilons) > 1 and pair.epsilons[-1] > 0, "a profile has no points.")
    if details.positions is not None:
        _require(len(details.positions.losses) > 0, "there is no loss by position.")
    if regret is not None:
        rows = {len(regret.times), len(regret.mean), len(regret.deviation)}
        _require(len(rows) == 1 and len(regret.times) > 1, "regret has rows of different lengths.")
        _require(len(regret.upper_times) == len(regret.upper), "regret has too few bounds.")
        _require(0 < regret.times[0] < regret.times[-1], "regret's times do not grow.")


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(rule)
