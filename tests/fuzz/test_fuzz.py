"""Random declarations: whoever answers about one agrees with whoever else does."""

from __future__ import annotations

import pytest
from cases import Case, cases
from checks import Tally, examine
from declarations import Pick, Script
from hypothesis import HealthCheck, given, settings

COMMON = {
    "derandomize": True,
    "database": None,
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
}


def agree(case: Case) -> None:
    tally = Tally()
    examine(case, tally)
    found = "\n".join(f"{check}: {text}" for check, text, _ in tally.disagreements)
    assert not tally.disagreements, f"{found}\n{case!r}"


def brief(case: Case) -> bool:
    """Tell whether no KL indices of three arms are compared twice: that takes half a minute.

    The thousands below have such cases, and tests/exact/test_nets.py is about them.
    """
    turns = case.algorithm.program.body if isinstance(case.algorithm, Script) else ()
    twice = [part for part in turns if isinstance(part, Pick) and "kl" in part.index.kind][1:]
    return case.algorithm.arms == 2 or not twice


@settings(max_examples=20, **COMMON)
@given(cases().filter(brief))
def test_whoever_answers_agrees(case):
    agree(case)


@pytest.mark.slow
@settings(max_examples=2000, **COMMON)
@given(cases())
def test_whoever_answers_agrees_thousands_of_times(case):
    agree(case)
