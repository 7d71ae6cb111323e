"""Enums that make up members, fields in a method's place, remembered values: none is proved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, IntFlag
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest
from charted import runs_of

from dpaudit.core.algorithm import Algorithm, Choose, Play, Release, Rows, Step
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine
from dpaudit.sample.lockstep import run_many
from dpaudit.sample.streams import Stream
from dpaudit.structure import prove
from dpaudit.verdict import Status


class Open(Enum):
    """A common recipe: what is unknown becomes a member that only its value tells from others."""

    BEGIN = 0

    @classmethod
    def _missing_(cls, value):
        member = object.__new__(cls)
        member._name_, member._value_ = "OTHER", value
        return member


class Bits(IntFlag):
    """Most combinations of bits have no name."""

    ONE = 1


@dataclass(frozen=True, kw_only=True)
class Branching(Algorithm):
    """After the choice of arm 1 alone, both first rewards are released again with little noise."""

    kind: str
    epsilon: float = 1.0

    def start(self):
        return self.at(0)

    def at(self, line):
        return {"open": Open, "bits": Bits}[self.kind](2 * line if line else 0)

    def step(self, state):
        line = int(state.value) // 2
        again = Laplace(Fraction(1, 50))
        requests = (
            Play(0, 1),
            Release(0, Rows(0, 0, 1), Laplace(1)),
            Play(1, 1),
            Release(1, Rows(1, 0, 1), Laplace(1)),
            Choose((0, 1), ((0,), (1,)), lambda m: Affine(0.0)),
            Play(0, 1),
            Play(1, 1),
            Release(0, Rows(0, 0, 1), again),
        )
        if line >= len(requests):
            return Step(Play(0, 1), lambda _: state)
        after = (lambda arm: self.at(5 + arm)) if line == 4 else lambda _: self.at(line + 1)
        return Step(requests[line], (lambda _: self.at(20)) if line == 5 else after)


@pytest.mark.parametrize("kind", ["open", "bits"])
def test_a_branch_behind_an_unnamed_member_is_walked_or_distrusted(kind):
    finding = prove(Branching(arms=2, kind=kind), 20)
    assert finding.status is Status.SILENT
    assert "Open" in finding.reason or "is charged 51" in finding.reason


@dataclass(frozen=True)
class Node:
    """A release as a parameter: the tree's nodes, but for one count."""

    scale: Fraction

    def __call__(self, rows):
        size = rows.stop & -rows.stop
        if rows.stop == 1500:
            return Release((rows.arm, 2), Rows(rows.arm, 0, 1500), Laplace(Fraction(1, 1000)))
        node = Rows(rows.arm, rows.stop - size, rows.stop)
        return Release((rows.arm, size.bit_length() - 1), node, Laplace(self.scale))


def test_a_field_in_the_place_of_release_is_no_tree():
    @dataclass(frozen=True, kw_only=True)
    class Shadow(DPUCB):
        release: Node = field(default_factory=lambda: Node(Fraction(12)))

    finding = prove(Shadow(arms=2, horizon=4000), 4000, budget=20.0)
    assert finding.status is Status.SILENT
    assert "more than 1" in finding.reason


def test_what_a_declaration_remembers_must_be_plain():
    @dataclass(frozen=True, kw_only=True)
    class Remembering(AdapUCB):
        @cached_property
        def cache(self):
            return {}

        def release(self, rows):
            right = super().release(rows)
            order = self.cache.setdefault(rows, len(self.cache))
            return replace(right, noise=Laplace(right.noise.scale + Fraction(order, 1000)))

    finding = prove(Remembering(arms=2), 1000)
    assert finding.status is Status.SILENT
    assert "dict" in finding.reason


def test_a_rule_that_leaves_traces_of_large_registers_is_distrusted():
    trace = []

    @dataclass(frozen=True)
    class Leaky(Affine):
        def value(self, x):
            trace.append(float(np.max(x)))
            return super().value(x)

    @dataclass(frozen=True, kw_only=True)
    class Adaptive(AdapUCB):
        def rule(self, pulls, time, m):
            return Leaky(super().rule(pulls, time, m).shift)

        def release(self, rows):
            right = super().release(rows)
            small = bool(trace) and max(trace) > 1.5
            return replace(right, noise=Laplace(right.noise.scale / 100)) if small else right

    assert prove(Adaptive(arms=2), 10**6).status is Status.SILENT


def test_an_instance_runs_beyond_its_horizon_as_declared():
    """The compiled tree has room for the horizon that it is built for, and no more.

    Mean pulls of arm 1 over 300 runs of each; a z-score of 6 has probability 2e-9.
    """
    algorithm = DPUCB(arms=2, horizon=3, epsilon=5.0, gamma=0.9)
    many = run_many(algorithm, Stream.constant(1.0, 64), 300, np.random.default_rng(1))
    fast = np.array([many.actions(i).sum() for i in range(300)])
    rng = np.random.default_rng(2)
    slow = np.array([run.actions.sum() for run in runs_of(algorithm, [1.0] * 64, 300, rng)])
    error = np.sqrt(fast.var() / 300 + slow.var() / 300)
    assert abs(fast.mean() - slow.mean()) < 6 * error


def test_what_an_algorithm_holds_beside_its_parameters_is_distrusted():
    """No key shows it, and a later run may find another value there."""

    @dataclass(frozen=True, kw_only=True)
    class Mood(AdapUCB):
        def release(self, rows):
            right = super().release(rows)
            return replace(right, noise=Laplace(right.noise.scale * self.__dict__.get("mood", 1)))

    algorithm = Mood(arms=2)
    assert prove(algorithm, 50).status is Status.PROVED
    object.__setattr__(algorithm, "mood", 2)
    finding = prove(algorithm, 50)
    assert finding.status is Status.SILENT
    assert "holds 'mood', which is not one of its parameters" in finding.reason
