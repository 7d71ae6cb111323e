"""GitHub annotations: one workflow command per problem, escaped as the runner unescapes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpaudit.formats.result import ClaimResult, ProblemRule


def render(results: Sequence[ClaimResult]) -> Iterator[str]:
    """Yield `::error file=...,line=...,title=...::message` lines."""
    for result in results:
        for problem in result.problems:
            level = "warning" if problem.rule is ProblemRule.UNDECIDED else "error"
            values: dict[str, str] = {}
            if result.place is not None:
                values = {"file": result.place.file, "line": str(result.place.line)}
            values["title"] = f"dpaudit {problem.rule.id} {problem.rule.label}"
            text = f"{result.claim}: {problem.message}"
            if problem is result.problems[0] and result.details:
                text += f"\n{result.details}"
            yield command(level, values, text)


def command(name: str, values: dict[str, str], text: str) -> str:
    """Return one workflow command; newlines, and in values also colons and commas, are escaped."""
    pairs = ",".join(f"{key}={_value(value)}" for key, value in values.items())
    return f"::{name} {pairs}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
