"""SARIF 2.1.0: one result per problem, with stable rule ids and fingerprints.

A fingerprint is made of the rule and the claim, so that a problem keeps its identity when lines
move.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from dpaudit import __version__
from dpaudit.formats.result import ClaimResult, Problem, ProblemRule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(results: Sequence[ClaimResult]) -> dict[str, Any]:
    """Return the log as plain data; every rule is described, every problem is a result."""
    rules = list(ProblemRule)
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "dpaudit",
                        "version": __version__,
                        "rules": [_described(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(result, problem, rules.index(problem.rule))
                    for result in results
                    for problem in result.problems
                ],
            }
        ],
    }


def _described(rule: ProblemRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.label,
        "shortDescription": {"text": rule.text},
        "fullDescription": {"text": f"{rule.text} {rule.remedy}"},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": _level(rule)},
        "properties": {"tags": ["security", "privacy"]},
    }


def _level(rule: ProblemRule) -> str:
    return "warning" if rule is ProblemRule.UNDECIDED else "error"


def _result(result: ClaimResult, problem: Problem, index: int) -> dict[str, Any]:
    text = f"{result.claim}: {problem.message}"
    if problem is result.problems[0] and result.details:
        text += f"\n{result.details}"
    made: dict[str, Any] = {
        "ruleId": problem.rule.id,
        "ruleIndex": index,
        "level": _level(problem.rule),
        "message": {"text": text},
        "partialFingerprints": {"dpauditClaim/v1": fingerprint(problem.rule, result.claim)},
        "properties": {"claim": result.claim, "verdict": result.verdict},
    }
    if result.place is not None:
        where = {
            "artifactLocation": {"uri": quote(result.place.file), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": result.place.line},
        }
        made["locations"] = [{"physicalLocation": where}]
    return made


def fingerprint(rule: ProblemRule, claim: str) -> str:
    """Return what makes a problem the same one tomorrow."""
    return hashlib.sha256(f"{rule.id}\0{claim}".encode()).hexdigest()
