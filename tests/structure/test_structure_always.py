"""PROVED at every horizon: where the theorem applies, and that nothing slips in beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from dpaudit.core.algorithm import Accumulate, Release, Rows
from dpaudit.core.algorithms import find, load, names
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.dp_klucb import DPKLUCB
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.algorithms.ldp_ucb_b import LDPUCBB
from dpaudit.core.algorithms.ldp_ucb_l import LDPUCBL
from dpaudit.core.canonical import Distrust
from dpaudit.core.local import Local
from dpaudit.core.noise import Laplace, NoNoise
from dpaudit.core.notions import Kind, Tariff
from dpaudit.core.scores import Affine
from dpaudit.structure import prove
from dpaudit.structure.always import at_every_horizon
from dpaudit.structure.prove import bound
from dpaudit.verdict import Status

ALWAYS = {
    "adap_imed",
    "adap_klucb",
    "adap_moss",
    "adap_tt",
    "adap_ucb",
    "dp_gaussian_ts",
    "dp_greedy",
    "dp_imed",
    "dp_klucb",
    "lazy_dp_ts",
    "lazy_dp_ucb",
    "ldp_ucb_b",
    "ldp_ucb_l",
}


def test_these_are_proved_at_every_horizon_and_no_others():
    found = set()
    for name in names():
        told = {"horizon": 1000} if find(name).told() else {}
        algorithm = load(name, arms=3, **told)
        if "epsilon" in algorithm.__dict__ and at_every_horizon(algorithm) is not None:
            found.add(name)
    assert found == ALWAYS


@pytest.mark.parametrize("name", sorted(ALWAYS))
def test_the_theorem_says_what_the_ledger_counts(name):
    algorithm = load(name, arms=2, epsilon=0.7)
    always = at_every_horizon(algorithm)
    assert always == Fraction(7, 10)
    for horizon in (3, 5, 40, 130):
        counted = bound(algorithm, horizon).charge
        assert counted <= always
        assert counted == always or horizon < 40
    assert prove(algorithm, 40, 0.7).always
    assert not prove(algorithm, 40, 0.69).always


def test_a_long_horizon_takes_no_longer_than_a_short_one():
    for arms in (2, 5):
        found = prove(load("ldp_ucb_b", arms=arms), 10**7, 1.0)
        assert found.status is Status.PROVED and found.always and found.horizon == 10**7
        assert "at any horizon" in found.reason


def test_local_noise_is_local_at_every_horizon_while_episodes_are_of_one_reward():
    @dataclass(frozen=True, kw_only=True)
    class Pairs(LDPUCBL):
        def episode_length(self, pulls: Any) -> Any:
            return 2

    local = Tariff(Kind.LOCAL)
    assert at_every_horizon(LDPUCBL(arms=2), local) == 1
    assert at_every_horizon(Pairs(arms=2), local) is None
    assert at_every_horizon(Pairs(arms=2)) == 1  # globally a sum costs what its noise does
    assert at_every_horizon(LDPUCBL(arms=2), Tariff(Kind.PURE, unit=2)) is None


@pytest.mark.parametrize("kind", [Kind.ZCDP, Kind.GDP, Kind.APPROXIMATE])
@pytest.mark.parametrize("name", ["adap_ucb", "lazy_dp_ucb", "ldp_ucb_b", "ldp_ucb_l", "adac_ucb"])
def test_other_notions_charge_the_same_at_every_horizon(name, kind):
    algorithm, tariff = load(name, arms=2), Tariff(kind, epsilon=Fraction(1, 2))
    always = at_every_horizon(algorithm, tariff)
    assert always is not None and 0 < always < 2
    for horizon in (3, 12, 60):
        counted = bound(algorithm, horizon, tariff=tariff).charge
        assert counted <= always
        assert counted == always or horizon < 12
    assert at_every_horizon(algorithm, Tariff(kind, unit=2, epsilon=Fraction(1, 2))) is None


def test_responses_to_several_rewards_some_day_are_no_proof_for_all_time():
    @dataclass(frozen=True, kw_only=True)
    class Late(LDPUCBB):
        def episode_length(self, pulls: Any) -> Any:
            return 1 if pulls < 5_000 else 2

    assert at_every_horizon(Late(arms=2)) is None
    found = prove(Late(arms=2), 200, 1.0)
    assert found.status is Status.PROVED and not found.always
    assert "lattice" not in found.rounding and "responses" in found.rounding


def test_zero_concentration_of_adac_ucb():
    algorithm = load("adac_ucb", arms=2, rho=0.3)
    assert at_every_horizon(algorithm, Tariff(Kind.ZCDP)) == Fraction(3, 10)
    assert at_every_horizon(algorithm) is None


@dataclass(frozen=True, kw_only=True)
class Late(AdapUCB):
    """Right for a million rewards, then without enough noise."""

    def release(self, rows: Rows) -> Release | Accumulate:
        scale = 1 / Fraction(rows.stop, 2) / (2 if rows.stop > 10**6 else 1)
        return Release(rows.arm, rows, Laplace(scale), divisor=len(rows))


@dataclass(frozen=True, kw_only=True)
class Shorter(AdapUCB):
    """Doubling lengths, but released as if the batch had been longer."""

    def released_length(self, pulls: int) -> Fraction:
        return Fraction(pulls)


@dataclass(frozen=True, kw_only=True)
class Tripling(AdapUCB):
    """The noise of doubling on episodes of another length."""

    def episode_length(self, pulls: Any) -> Any:
        return 1 if pulls > 100 else pulls


@dataclass(frozen=True, kw_only=True)
class HalfLazy(LazyDPUCB):
    """The lengths of one algorithm, what they stand for from another."""

    def released_length(self, pulls: int) -> Fraction:
        return Fraction(pulls + 1, 2)


class Moody(AdapUCB):
    """Claims what it likes whenever it is asked."""

    @property
    def epsilon(self) -> float:  # type: ignore[override]
        return 1.0

    @epsilon.setter
    def epsilon(self, value: float) -> None:
        pass


class Watching(AdapUCB):
    """Looks at who asks."""

    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


@dataclass(frozen=True, kw_only=True)
class Stepping(AdapUCB):
    """A frame of its own."""

    def step(self, state: Any) -> Any:
        return super().step(state)


def shadowed() -> AdapUCB:
    algorithm = AdapUCB(arms=2)
    object.__setattr__(algorithm, "release", Late(arms=2).release)
    return algorithm


OUTSIDE = {
    "another release": Late(arms=2),
    "another length": Shorter(arms=2),
    "other episodes": Tripling(arms=2),
    "lengths of two": HalfLazy(arms=2),
    "another frame": Stepping(arms=2),
    "a class that watches": Watching(arms=2),
    "a computed parameter": Moody(arms=2),
    "a field in its place": shadowed(),
    "a lattice": AdapUCB(arms=2, grid=10),
    "built for a horizon": load("dp_ucb", arms=2, horizon=50),
    "no noise": load("ucb", arms=2),
    "phases": load("dp_se", arms=2, horizon=5000),
}


@pytest.mark.parametrize("what", sorted(OUTSIDE))
def test_nothing_is_said_of_every_horizon_with(what):
    assert at_every_horizon(OUTSIDE[what]) is None


def test_a_flaw_beyond_the_horizon_is_proved_up_to_the_horizon_alone():
    found = prove(Late(arms=2), 1000)
    assert found.status is Status.PROVED and not found.always
    assert "at any horizon" not in found.reason
    assert prove(Late(arms=2), 10**7).status is Status.SILENT


@dataclass(frozen=True, kw_only=True)
class Told(Local):
    """Any law."""

    kind: str = "none"

    def law(self) -> Any:
        return {"none": NoNoise(), "narrow": Laplace(Fraction(1, 2)), "right": Laplace(1)}[
            self.kind
        ]

    def rule(self, pulls: Any, time: Any, m: Any) -> Affine:
        return Affine(m.number(0), scale=1 / pulls)


def test_a_law_that_charges_too_much_is_not_proved():
    assert prove(Told(arms=2, kind="right"), 10**6, 1.0).always
    for kind in ("none", "narrow"):
        found = prove(Told(arms=2, kind=kind), 10**6, 1.0)
        assert found.status is Status.SILENT and not found.always


def test_a_law_that_changes_its_mind_is_distrusted():
    calls = []

    @dataclass(frozen=True, kw_only=True)
    class Fickle(Told):
        def law(self) -> Any:
            calls.append(1)
            return Laplace(1 if len(calls) < 30 else Fraction(1, 2))

    with pytest.raises(Distrust):
        at_every_horizon(Fickle(arms=2))


def test_lengths_that_break_off_are_no_proof_for_all_time():
    @dataclass(frozen=True, kw_only=True)
    class Table(DPKLUCB):
        def episode_length(self, pulls: Any) -> Any:
            return [1, 1, 2, 4][pulls.bit_length()]

    algorithm = Table(arms=2)
    assert at_every_horizon(algorithm) is None
    assert prove(algorithm, 6).status is Status.PROVED
    assert not prove(algorithm, 6).always
