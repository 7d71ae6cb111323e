"""Methods that look like the frame's to who asks the class, and are others: nothing is proved."""

import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.canonical import Distrust
from dpaudit.core.episodes import DoublingEpisodes, framed
from dpaudit.core.local import Local
from dpaudit.core.noise import Laplace
from dpaudit.core.notions import Kind, Notion
from dpaudit.core.scores import Affine, KLBound, Score, winner_is_known
from dpaudit.core.stream import run_stream
from dpaudit.core.unchanged import unchanged
from dpaudit.errors import InvalidArgument
from dpaudit.judging import check
from dpaudit.options import Options
from dpaudit.structure.always import at_every_horizon
from dpaudit.structure.program import Uncovered, on_lattice, require_monotone
from dpaudit.structure.prove import prove
from dpaudit.target import Target
from dpaudit.verdict import Status


class TwoFaced:
    """One function to those who ask the class, another to those who ask an instance."""

    def __init__(self, shown, used):
        self.shown, self.used = shown, used

    def __get__(self, instance, kind=None):
        return self.shown if instance is None else self.used.__get__(instance, kind)


def late(self, rows):
    if rows.stop > 2**62:
        return Release(rows.arm, rows, Laplace(Fraction(1, 10**300)), divisor=len(rows))
    return DoublingEpisodes.release(self, rows)


def node(self, rows):
    if rows.stop == 1500:
        return Release((rows.arm, 2), Rows(rows.arm, 0, 1500), Laplace(Fraction(1, 1000)))
    return DPUCB.release(self, rows)


@dataclass(frozen=True, kw_only=True)
class Flat(DoublingEpisodes):
    def rule(self, pulls, time, m):
        return Affine(0 * pulls)


@dataclass(frozen=True, kw_only=True)
class Late(Flat):
    release = TwoFaced(DoublingEpisodes.release, late)


class Meta(type(DoublingEpisodes)):
    def __getattribute__(cls, name):
        return DoublingEpisodes.release if name == "release" else super().__getattribute__(name)


@dataclass(frozen=True, kw_only=True)
class ByMeta(Flat, metaclass=Meta):
    release = late


class Veiled(Flat):
    """Its own table shows no method, and has one."""

    @property
    def __dict__(self):
        return {"arms": 2, "epsilon": 1.0, "grid": None, "rounding": None}


@dataclass(frozen=True, kw_only=True)
class Tree(DPUCB):
    release = TwoFaced(DPUCB.release, node)


@dataclass(frozen=True, kw_only=True)
class Watching(Local):
    """A law that looks at who asks."""

    def law(self):
        rows = sys._getframe(1).f_locals["rows"]
        return Laplace(Fraction(1, 1000) if rows.stop > 2**24 else 1)

    def rule(self, pulls, time, m):
        return Affine(0 * pulls)


@pytest.mark.parametrize("kind", [Late, ByMeta])
def test_a_method_with_two_faces_is_not_the_one_of_the_theorem(kind):
    assert not unchanged(kind(arms=2), DoublingEpisodes, ("release",))
    assert unchanged(Flat(arms=2), DoublingEpisodes, ("release",))
    assert not prove(kind(arms=2), 60).always and prove(Flat(arms=2), 60).always


def test_a_table_of_ones_own_is_not_believed():
    assert not framed(Veiled(arms=2)) and framed(Flat(arms=2))


def test_a_tree_whose_nodes_have_two_faces_is_walked():
    assert prove(Tree(arms=2, horizon=3000), 3000, budget=5.0).status is not Status.PROVED


def test_a_law_that_watches_its_caller_is_seen_far_out():
    with pytest.raises(Distrust, match="is not charged 1"):
        at_every_horizon(Watching(arms=2))


def test_a_winner_with_two_faces_is_not_known():
    @dataclass(frozen=True)
    class Peeking(Affine):
        winner = TwoFaced(Score.winner, lambda self, x, rng: 0)

    assert winner_is_known(Affine(0)) and not winner_is_known(Peeking(0))


def test_a_grid_that_is_not_used_is_no_lattice():
    class Hide:
        def __get__(self, instance, kind=None):
            return None

        def __set__(self, instance, value):
            vars(instance)["grid"] = value

    @dataclass(frozen=True, kw_only=True)
    class HiddenGrid(Flat):
        pass

    HiddenGrid.grid = Hide()
    assert on_lattice(Flat(arms=2, grid=1000)) is not None
    assert on_lattice(HiddenGrid(arms=2, grid=1000)) is None


def test_a_grid_that_doubles_cannot_hold_is_refused():
    with pytest.raises(InvalidArgument, match="at most 2\\^53"):
        Flat(arms=2, grid=2**53 + 3)


class Zeros:
    """Zeros when looked at."""

    __array_ufunc__ = None

    def __array__(self, dtype=None, copy=None):
        return np.zeros(2)


@pytest.mark.parametrize(
    "rule",
    [Affine(Zeros()), Affine(np.array([Zeros(), 0.0], dtype=object)), KLBound(1e300)],
)
def test_what_is_not_made_of_numbers_or_too_large_is_not_covered_in_doubles(rule):
    with pytest.raises(Uncovered):
        require_monotone(rule)


@pytest.mark.parametrize("level", [1.0000004, 0.1, 1.0, 1e-9])
def test_a_level_is_written_with_all_its_digits(level):
    said = str(Notion(Kind.PURE, level))
    assert float(said.rpartition(" ")[2]) == level


def test_a_score_is_decided_without_the_generator_of_the_noise():
    @dataclass(frozen=True)
    class Watched(Affine):
        def value(self, x):
            seen.append(sys._getframe(1).f_locals.get("rng"))
            return super().value(x)

    @dataclass(frozen=True, kw_only=True)
    class Scored(Flat):
        def rule(self, pulls, time, m):
            return Watched(0 * pulls)

    seen = []
    run_stream(Scored(arms=2), (1.0, 0.0, 1.0), np.random.default_rng(0))
    assert seen and set(seen) == {None}


def test_a_target_that_is_told_the_horizon_is_not_proved_at_every_one():
    def told(arms=2, horizon=1000, epsilon=1.0):
        return Flat(arms=arms, epsilon=1.0 if horizon <= 1000 else 30.0)

    def free(arms=2, epsilon=1.0):
        return Flat(arms=arms, epsilon=epsilon)

    for build, always in ((told, False), (free, True)):
        report = check(Target("mine.py:build", build), Options(horizon=60, methods=("structure",)))
        assert report.verdict is Status.PROVED and report.always is report.claim.anytime is always
