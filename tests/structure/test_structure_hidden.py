"""Flaws that hide in one branch, one arm, one late release or one last digit are never proved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum, IntEnum, IntFlag
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpaudit.core.algorithm import Algorithm, Choose, Keep, Play, Release, Rows, Step
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.episodes import Playing
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine
from dpaudit.errors import BadDeclaration
from dpaudit.structure import bound, prove
from dpaudit.structure.walk import OutOfBudget, Walk
from dpaudit.verdict import Status


def affine(m: Any) -> Affine:
    return Affine(m.number(np.zeros(2)))


def forked(marks: Any) -> Algorithm:
    """Pull and release both arms, choose once, remember the choice as `marks()[arm]`, play on.

    After the first mark the next reward of arm 0 is released with enough noise; after the second,
    which differs in something that a careless key would overlook, with a thousandth of it.
    """

    @dataclass(frozen=True, kw_only=True)
    class Forked(Algorithm):
        def start(self) -> Any:
            return ("play", 0)

        def step(self, state: Any) -> Step:
            kind, what = state
            if kind == "play":
                return Step(Play(what, 1), lambda rows: ("release", rows))
            if kind == "release":
                after = ("play", 1) if what.arm == 0 else ("choose", None)
                return Step(Release(what.arm, what, Laplace(1.0)), lambda _: after)
            if kind == "choose":
                request = Choose((0, 1), ((0,), (1,)), affine)
                return Step(request, lambda arm: ("marked", marks()[arm]))
            if kind == "marked":
                return Step(Play(0, 1), lambda rows: ("last", what))
            if kind == "last":
                scale = 1.0 if fingerprint(what) == fingerprint(marks()[0]) else 0.001
                return Step(Release(0, Rows(0, 1, 2), Laplace(scale)), lambda _: ("end", None))
            return Step(Play(0, 1), lambda _: ("end", None))

    return Forked(arms=2)


def fingerprint(mark: Any) -> Any:
    parts = tuple(map(fingerprint, mark)) if isinstance(mark, tuple | frozenset) else repr(mark)
    return type(mark).__name__, parts, getattr(mark, "__dict__", None)


class Hiding(tuple):
    """A tuple that carries an attribute."""

    def __new__(cls, hidden: int) -> Hiding:
        made = super().__new__(cls, ())
        made.hidden = hidden  # type: ignore[attr-defined]
        return made


class Left(NamedTuple):
    count: int


class Right(NamedTuple):
    count: int


class Colour(Enum):
    RED = 1
    BLUE = 2


class Number(IntEnum):
    ONE = 1


class Bits(IntFlag):
    """Most combinations of bits have no name."""

    A = 1


class Alike(type):
    """A metaclass whose classes all claim to be one."""

    def __eq__(cls, other: object) -> bool:
        return isinstance(other, Alike)

    def __hash__(cls) -> int:
        return 0


class Twin(tuple, metaclass=Alike):
    __slots__ = ()


class Sister(tuple, metaclass=Alike):
    __slots__ = ()


@dataclass(frozen=True)
class Filled(tuple):
    """A frozen dataclass whose content is no field of it."""


@dataclass(frozen=True)
class Wrapped:
    value: Any


@dataclass(frozen=True)
class Also:
    value: Any


@dataclass
class Open:
    """A dataclass that can be changed."""

    value: int

    def __hash__(self) -> int:
        return 0


def extended(value: int) -> Wrapped:
    made = Wrapped(0)
    object.__setattr__(made, "more", value)
    return made


THIRD = Fraction(1, 3)


@pytest.mark.parametrize(
    "marks",
    [
        lambda: (0.0, -0.0),
        lambda: (1, True),
        lambda: (0, False),
        lambda: (1, 1.0),
        lambda: (1.0, Fraction(1)),
        lambda: (1, Fraction(1)),
        lambda: (THIRD, THIRD + Fraction(1, 10**40)),
        lambda: (Fraction(1, 2), Fraction(1, 3)),
        lambda: (Fraction(1, 2), Fraction(3, 2)),
        lambda: (0.1, math.nextafter(0.1, 1)),
        lambda: ("1", b"1"),
        lambda: (None, ()),
        lambda: (Left(1), Right(1)),
        lambda: (Left(1), (1,)),
        lambda: (Wrapped(1), Also(1)),
        lambda: (Wrapped(1), Wrapped(True)),
        lambda: (Wrapped(1), Wrapped(2)),
        lambda: (Colour.RED, Colour.BLUE),
        lambda: (1, Number.ONE),
        lambda: (Bits(2), Bits(4)),
        lambda: (Bits(2), 2),
        lambda: (frozenset({1}), frozenset({True})),
        lambda: (frozenset({1}), frozenset({2})),
        lambda: (frozenset({1}), (1,)),
        lambda: (Rows(0, 1, 2), Rows(1, 1, 2)),
        lambda: (Rows(0, 1, 2), Rows(0, 0, 2)),
        lambda: (Rows(0, 1, 2), Rows(0, 1, 3)),
        lambda: (Rows(0, 1, 2), (0, 1, 2)),
    ],
)
def test_a_branch_that_differs_in_one_mark_is_walked(marks):
    finding = prove(forked(marks), 10, 1.0)
    assert finding.status is Status.SILENT
    assert "reward 2 of arm 0 is charged 1000" in finding.reason.lower()


@pytest.mark.parametrize(
    "marks",
    [
        lambda: (0.0, 0.0),
        lambda: (True, True),
        lambda: (THIRD, THIRD),
        lambda: (Left(1), Left(1)),
        lambda: (Wrapped(1), Wrapped(1)),
        lambda: (Colour.RED, Colour.RED),
        lambda: (frozenset({1, 2}), frozenset({2, 1})),
        lambda: (Rows(0, 1, 2), Rows(0, 1, 2)),
    ],
)
def test_plain_marks_are_trusted(marks):
    assert prove(forked(marks), 10, 1.0).status is Status.PROVED


@pytest.mark.parametrize(
    "marks",
    [
        lambda: (Hiding(1), Hiding(2)),
        lambda: (extended(1), extended(2)),
        lambda: (Open(1), Open(2)),
        lambda: ((Hiding(1),), (Hiding(2),)),
        lambda: (Twin(), Sister()),
        lambda: (tuple.__new__(Filled, (1,)), tuple.__new__(Filled, (2,))),
        lambda: (frozenset({Open(1)}), frozenset({Open(2)})),
    ],
)
def test_marks_with_something_hidden_are_not_trusted(marks):
    finding = prove(forked(marks), 10, 1.0)
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == math.inf


def many(release: Any = None, arms: int = 3, **methods: Any) -> AdapUCB:
    """adap_ucb with so many arms that charges are added up arm by arm, and something changed."""

    def changed(self: Any, rows: Rows) -> Release:
        right = AdapUCB.release(self, rows)
        assert isinstance(right, Release)
        return right if release is None else release(rows, right)

    kind = type("Changed", (AdapUCB,), {"release": changed, **methods})
    return dataclass(frozen=True, kw_only=True)(kind)(arms=arms)


def weaker(right: Release) -> Release:
    return replace(right, noise=Laplace(exact(right.noise.scale) / 2))


@pytest.mark.parametrize("arm", range(3))
def test_one_arm_with_too_little_noise_late_is_not_proved(arm):
    late = many(lambda rows, right: weaker(right) if rows == Rows(arm, 512, 1024) else right)
    finding = prove(late, 2000)
    assert finding.status is Status.SILENT
    assert f"reward 513 of arm {arm} is charged 2" in finding.reason.lower()


def test_the_last_release_that_fits_is_charged():
    """1024 pulls of one arm and one of each of the others are 1026 rounds; a decision follows."""
    late = many(lambda rows, right: weaker(right) if rows.stop == 1024 else right)
    assert prove(late, 1027).epsilon_upper == 2.0
    assert prove(late, 1026).epsilon_upper == 1.0


def test_another_start_is_another_chain():
    """Counts that begin at 2 reach episodes that the frame's own start does not know."""
    late = many(
        lambda rows, right: weaker(right) if rows.first == 510 else right,
        start=lambda self: Playing((2, 0, 0), 0),
    )
    finding = prove(late, 2000)
    assert finding.status is Status.SILENT
    assert "reward 511 of arm 0 is charged 1.99609375" in finding.reason.lower()


def test_another_choice_is_no_frame():
    """Where the choice is overridden, charges are not added up arm by arm."""

    def choice(self: Any, pulls: tuple[int, ...]) -> Choose:
        right = AdapUCB.choice(self, pulls)
        if max(pulls) < 1024:
            return right
        return replace(right, rule=lambda m: rewinding(right.rule(m)))

    finding = prove(many(choice=choice), 2000)
    assert finding.status is Status.SILENT
    assert "winner" in finding.reason


def test_parameters_that_change_during_the_walk_are_distrusted():
    """Late releases have too little noise in every real run, which ends before the change."""
    calls = [0]

    @dataclass(frozen=True, kw_only=True)
    class Mellowing(AdapUCB):
        late: float = 2.0

        def release(self, rows: Rows) -> Release:
            calls[0] += 1
            if calls[0] > 500:
                object.__setattr__(self, "late", 1.0)
            right = super().release(rows)
            scale = exact(right.noise.scale) / (exact(self.late) if rows.stop >= 1024 else 1)
            return replace(right, noise=Laplace(scale))

    finding = prove(Mellowing(arms=3), 2000)
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == math.inf


def test_a_release_that_depends_on_the_call_before_is_distrusted():
    """In the order of the chain every late release looks right; real runs interleave the arms."""
    last = [Rows(0, 0, 0)]

    def after_its_own(rows: Rows, right: Release) -> Release:
        before, last[0] = last[0], rows
        own = (before.arm, before.stop) == (rows.arm, rows.first)
        return right if own or rows.stop < 1024 else weaker(right)

    assert prove(many(after_its_own), 2000).status is Status.SILENT


def rewinding(rule: Any) -> Any:
    """A rule whose instance brings a winner of its own, which rewinds the noise."""

    def winner(x: Any, rng: Any) -> Any:
        rng.bit_generator.state = np.random.default_rng(0).bit_generator.state
        return np.argmax(x)

    object.__setattr__(rule, "winner", winner)
    return rule


@pytest.mark.parametrize("arms", [2, 3])
def test_a_winner_of_the_instances_own_is_distrusted(arms):
    def rule(self: Any, pulls: Any, time: Any, m: Any) -> Any:
        return rewinding(AdapUCB.rule(self, pulls, time, m))

    finding = prove(many(rule=rule, arms=arms), 2000)
    assert finding.status is Status.SILENT
    assert "winner" in finding.reason


def test_a_rule_that_brings_its_own_winner_late_is_distrusted():
    """Beyond the states that are walked, where charges are added up arm by arm."""

    def rule(self: Any, pulls: Any, time: Any, m: Any) -> Any:
        right = AdapUCB.rule(self, pulls, time, m)
        return rewinding(right) if max(pulls) >= 1024 else right

    finding = prove(many(rule=rule), 2000)
    assert finding.status is Status.SILENT
    assert "winner" in finding.reason


@pytest.mark.parametrize("calls_before", [9, 12, 14])
def test_a_step_that_changes_its_mind_is_distrusted(calls_before):
    """Both branches have been walked once by then; a real run might come after the change."""
    calls = [0]
    plain = forked(lambda: (0, 0))

    @dataclass(frozen=True, kw_only=True)
    class Moody(type(plain)):  # type: ignore[misc]
        def step(self, state: Any) -> Step:
            calls[0] += 1
            right = super().step(state)
            if calls[0] > calls_before and isinstance(right.request, Release):
                return Step(weaker(right.request), right.then)
            return right

    finding = prove(Moody(arms=2), 5, 1.0)
    assert finding.status is Status.SILENT
    assert calls[0] > calls_before


def test_a_walk_that_ends_early_speaks_of_the_rounds_that_it_covered():
    """However far it comes within its budget, it does not come to the end."""
    finding = prove(many(choice=lambda self, pulls: AdapUCB.choice(self, pulls)), 10**9, budget=0.5)
    assert finding.horizon < 10**9 if finding.status is Status.PROVED else not finding.certified


class Shifty(Step):
    """A step that shows another request to whoever looks again."""

    @property
    def request(self) -> Any:  # type: ignore[override]
        looks = vars(self)["looks"]
        looks.append(None)
        right = vars(self)["right"]
        return weaker(right) if len(looks) > 50 and isinstance(right, Release) else right


def test_a_step_of_another_class_is_not_trusted():
    def step(self: Any, state: Any) -> Step:
        right = AdapUCB.step(self, state)
        made = object.__new__(Shifty)
        vars(made).update(right=right.request, looks=[], then=right.then)
        return made

    try:
        finding = prove(many(step=step, arms=2), 100)
    except BadDeclaration as error:
        assert "Shifty" in str(error)
    else:
        assert finding.status is Status.SILENT


@dataclass(frozen=True, kw_only=True)
class Joined(Algorithm):
    """Two ways to one state: on one of them the first reward of arm 0 is released once more."""

    dear: int

    def start(self) -> Any:
        return "begin"

    def step(self, state: Any) -> Step:
        half = Release(0, Rows(0, 0, 1), Laplace(2))
        other = Release(1, Rows(1, 0, 1), Laplace(2))
        match state:
            case "begin":
                return Step(Play(0, 1), lambda _: "other")
            case "other":
                return Step(Play(1, 1), lambda _: "first")
            case "first":
                return Step(half, lambda _: "second")
            case "second":
                return Step(other, lambda _: "choose")
            case "choose":
                request = Choose((0, 1), ((0,), (1,)), affine)
                return Step(request, lambda arm: "again" if arm == self.dear else "once")
            case "again":
                return Step(half, lambda _: "join")
            case "once":
                return Step(other, lambda _: "join")
            case "join":
                return Step(half, lambda _: "end")
        return Step(Play(0, 1), lambda _: "end")


@pytest.mark.parametrize("dear", [0, 1])
def test_charges_of_both_ways_to_a_state_are_followed(dear):
    assert bound(Joined(arms=2, dear=dear), 10).charge == Fraction(3, 2)


@pytest.mark.parametrize("more", [Fraction(1, 10**12), Fraction(1, 10**30)])
def test_a_charge_above_the_claim_by_less_than_a_double_is_not_proved(more):
    def tiny(rows: Rows, right: Release) -> Release:
        return replace(right, noise=Laplace(exact(right.noise.scale) / (1 + more)))

    for arms, horizon in ((2, 100), (3, 1000)):
        finding = prove(many(tiny, arms=arms), horizon)
        assert finding.status is Status.SILENT
        assert finding.epsilon_upper > 1


def test_a_scale_is_the_decimal_that_it_writes():
    """The charge as written is above the claim; that of the binary double would not be."""
    scale, claim = next(
        (decimal, float(1 / exact(decimal)))
        for decimal in (number / 1000 for number in range(1, 1000))
        if 1 / Fraction(decimal) <= exact(float(1 / exact(decimal))) < 1 / exact(decimal)
    )

    def decimal(rows: Rows, right: Release) -> Release:
        return replace(right, noise=Laplace(scale), divisor=1)

    assert prove(many(decimal, arms=2), 100, claim).status is Status.SILENT
    assert prove(many(decimal, arms=2), 100, math.nextafter(claim, 1e9)).status is Status.PROVED


def test_no_survivor_of_an_elimination_is_left_out():
    """Every non-empty set of arms may survive; on one of them alone the noise is too small."""

    @dataclass(frozen=True, kw_only=True)
    class Eliminating(Algorithm):
        bad: tuple[int, ...]

        def start(self) -> Any:
            return ("play", 0)

        def step(self, state: Any) -> Step:
            kind, what = state
            if kind == "play":
                return Step(Play(what, 1), lambda rows: ("release", rows))
            if kind == "release":
                after = ("play", what.arm + 1) if what.arm < 2 else ("keep", None)
                return Step(Release(what.arm, what, Laplace(1)), lambda _: after)
            if kind == "keep":
                request = Keep((0, 1, 2), ((0,), (1,), (2,)), lambda m: m.number(0.5))
                return Step(request, lambda kept: ("more", kept))
            if kind == "more":
                return Step(Play(0, 1), lambda _: ("last", what))
            if kind == "last":
                scale = Fraction(1, 2) if what == self.bad else 1
                return Step(Release(0, Rows(0, 1, 2), Laplace(scale)), lambda _: ("end", None))
            return Step(Play(0, 1), lambda _: ("end", None))

    for bad in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        assert bound(Eliminating(arms=3, bad=bad), 9).charge == 2
    assert bound(Eliminating(arms=3, bad=()), 9).charge == 1


def test_what_is_not_asked_for_again_is_not_believed(monkeypatch):
    def late(*_):
        raise OutOfBudget

    monkeypatch.setattr(Walk, "visit_again", late)
    found = bound(AdapUCB(arms=2), 50)
    assert found.charge == 1 and found.covered == 0
    assert prove(AdapUCB(arms=2), 50).status is Status.SILENT
