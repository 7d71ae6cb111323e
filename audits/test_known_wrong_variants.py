"""The gate's own test: every known-wrong variant is caught where its file says, none is proved.

A mutant that can be declared is judged by structure at full size and by exact at the size that its
file names; the counterexample must survive being written to a file and recomputed from scratch.
The sampler judges those whose file says that runs show the flaw, with fixed seeds at error 1e-6;
those that need many runs are slow (`pytest -m slow audits`).
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dpaudit.core.mutants import find, names
from dpaudit.errors import InvalidArgument
from dpaudit.exact.witness import to_json
from dpaudit.replay import read, replay
from dpaudit.target import resolve
from dpaudit.trial import examined, sampled
from dpaudit.verdict import Status

HORIZON = 10_000_000
QUICK = 4_000  # runs
MUTANTS = [find(name) for name in names()]
CONCLUDED = (Status.PROVED, Status.HOLDS)


def those(kept, slow=lambda mutant: False):
    marks = {True: pytest.mark.slow, False: ()}
    return pytest.mark.parametrize(
        "mutant",
        [pytest.param(it, id=it.name, marks=marks[slow(it)]) for it in MUTANTS if kept(it)],
    )


def never_proved(mutant):
    """Return the report of structure at full size and exact, which structure is silent in."""
    report = examined(mutant)
    structure = report.findings[0]
    assert (structure.check, structure.status) == ("structure", Status.SILENT)
    assert report.claim.horizon == HORIZON
    return report


def test_there_are_at_least_thirty():
    assert len(MUTANTS) >= 30


@those(lambda mutant: mutant.declared and mutant.exact is None)
def test_structure_is_silent_and_exact_does_not_hold_where_the_flaw_acts(mutant):
    assert never_proved(mutant).verdict not in CONCLUDED


@those(lambda mutant: not mutant.declared)
def test_nothing_but_runs_can_judge_handwritten_code(mutant):
    with pytest.raises(InvalidArgument, match="code as it stands"):
        resolve(mutant.target)


@those(lambda mutant: mutant.exact is not None)
def test_structure_is_silent_and_exact_refutes_it_and_replays(mutant, tmp_path):
    report = never_proved(mutant)
    assert report.verdict is Status.REFUTED
    witness = next(it.witness for it in report.findings if it.witness is not None)
    assert len(witness.actions) <= mutant.exact.horizon
    file: Path = tmp_path / "witness.json"
    file.write_bytes(msgspec.json.encode(to_json(witness)))
    again = replay(read(file), tmp_path)
    assert again.confirmed
    assert again.agrees


@those(lambda mutant: mutant.sample is not None, lambda mutant: mutant.sample.runs > QUICK)
def test_runs_refute_it(mutant):
    report = sampled(mutant)
    assert report.status is Status.REFUTED
    assert report.error <= 1e-6


@those(lambda mutant: mutant.why_not)
def test_nothing_is_concluded_on_a_flaw_that_does_not_break_the_claim(mutant):
    assert not mutant.declared
    assert sampled(mutant).status is Status.SILENT
