"""The gate's own test: every known-wrong variant is caught where its file says, none is proved.

A mutant that can be declared is judged by structure at full size and by exact at the size that its
file names; the counterexample must survive being written to a file and recomputed from scratch.
The sampler judges those whose file says that runs show the flaw, with fixed seeds at error 1e-6.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dpaudit.core.mutants import find, names
from dpaudit.errors import InvalidArgument
from dpaudit.exact.witness import to_json
from dpaudit.replay import read, replay
from dpaudit.structure import prove
from dpaudit.target import resolve
from dpaudit.trial import examined, sampled
from dpaudit.verdict import Status

HORIZON = 10_000_000
MUTANTS = [find(name) for name in names()]
CONCLUDED = (Status.PROVED, Status.HOLDS)


def those(kept):
    return pytest.mark.parametrize(
        "mutant", [pytest.param(it, id=it.name) for it in MUTANTS if kept(it)]
    )


def test_there_are_at_least_thirty():
    assert len(MUTANTS) >= 30


@those(lambda mutant: mutant.declared)
def test_structure_never_proves_it(mutant):
    given = {"arms": mutant.arms, "epsilon": mutant.epsilon}
    algorithm = resolve(mutant.target).build(HORIZON, given)
    assert prove(algorithm, HORIZON, mutant.epsilon, budget=5).status is Status.SILENT


@those(lambda mutant: mutant.declared and mutant.exact is None)
def test_exact_does_not_hold_where_the_flaw_acts(mutant):
    assert examined(mutant).verdict not in CONCLUDED


@those(lambda mutant: not mutant.declared)
def test_nothing_but_runs_can_judge_handwritten_code(mutant):
    with pytest.raises(InvalidArgument, match="audit"):
        resolve(mutant.target)


@those(lambda mutant: mutant.exact is not None)
def test_exact_refutes_it_with_a_counterexample_that_replays(mutant, tmp_path):
    report = examined(mutant)
    assert report.verdict is Status.REFUTED
    witness = next(it.witness for it in report.findings if it.witness is not None)
    assert len(witness.actions) <= mutant.exact.horizon
    file: Path = tmp_path / "witness.json"
    file.write_bytes(msgspec.json.encode(to_json(witness)))
    again = replay(read(file), tmp_path)
    assert again.confirmed
    assert again.agrees


@those(lambda mutant: mutant.sample is not None)
def test_runs_refute_it(mutant):
    report = sampled(mutant)
    assert report.status is Status.REFUTED
    assert report.error <= 1e-6


@those(lambda mutant: mutant.why_not)
def test_nothing_is_concluded_on_a_flaw_that_does_not_break_the_claim(mutant):
    assert not mutant.declared
    assert sampled(mutant).status is Status.SILENT
