"""The Hypothesis strategy: random declarations with a horizon and a reward stream.

Most parts of a declaration are tame, so that engines answer; each may be wild, so that they must
notice. Dyadic parameters keep ties exact where there is no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from declarations import Answer, Flip, Halt, Pick, Program, Pull, Script, Tell, Told, Trim
from framed import STYLES, Framed
from hypothesis import strategies as st
from scripted_rules import OWN, Index

from dpaudit.core.algorithm import Algorithm


@dataclass(frozen=True)
class Case:
    """A declaration, how long it runs, and on which rewards."""

    algorithm: Algorithm
    horizon: int
    stream: tuple[float, ...]


SCALES = (1, 2, Fraction(1, 2), 0.7, Fraction(4, 3), 3.0)
DIVISORS = (1, 2, Fraction(3, 2), Fraction(1, 2))
SHIFTS = (0, 0.25, -0.5, 0.75, Fraction(1, 2))
WINDOWS = (
    ("last", 1),
    ("last", 2),
    ("last", 3),
    ("first", 1),
    ("first", 2),
    ("all", 0),
    ("skip", 1),
)
RESPONSES = (
    (Fraction(3, 4), Fraction(1, 4)),
    (Fraction(1, 4), Fraction(3, 4)),
    (Fraction(1, 2), Fraction(1, 8)),
    (Fraction(1), Fraction(1, 2)),
)
EXPLORED = ((Fraction(1, 3),), (Fraction(1, 8), Fraction(1, 2)), (0, Fraction(2, 5)), (1,))
KINDS = (
    "affine",
    "affine",
    "affine",
    "kl",
    "private kl",
    "imed",
    "private imed",
    "beta",
    "gaussian",
)


def rarely(draw: Any, tame: Any, wild: Any, chance: int = 4) -> Any:
    """Draw from `wild` once in `chance` times."""
    return draw(wild) if draw(st.integers(1, chance)) == chance else draw(tame)


@st.composite
def indices(draw: Any, arms: int) -> Index:
    """Return rules: one kind for all arms, numbers shared or per arm."""
    kind = rarely(draw, st.sampled_from(KINDS), st.sampled_from(sorted(OWN)), 8)

    def numbers(values: Any) -> Any:
        one = st.sampled_from(values)
        return draw(st.one_of(one, st.tuples(*[one] * arms)))

    shift = numbers(SHIFTS)
    scale = rarely(draw, st.just(1), st.sampled_from((2, Fraction(1, 2), 0.75)))
    level = numbers((0.25, 1, Fraction(1, 2), 2)) if "kl" in kind or kind == "gaussian" else 1
    return Index(kind, shift, scale, level, draw(st.sampled_from((0, 0, 1, 0.5))))


FEATURES = (
    "windows",
    "divisors",
    "adds",
    "shown",
    "hidden",
    "rules",
    "noise",
    "order",
    "names",
    "coins",
    "responses",
    "stops",
)


@st.composite
def laws(draw: Any, wild: bool) -> Any:
    """Return a strategy of noises: one Laplace law for a whole declaration, or many."""
    if not wild and draw(st.booleans()):
        return st.just(("Laplace", draw(st.sampled_from(SCALES))))
    several = st.sampled_from([("Laplace", scale) for scale in SCALES])
    gaussian = st.sampled_from((("Gaussian", 1.0), ("Gaussian", 0.5)))
    none = st.just(("NoNoise",))
    if not wild:
        return several
    return draw(st.sampled_from((several, gaussian, none, none, several | gaussian | none)))


@dataclass(frozen=True)
class Maker:
    """Draws the parts of a script; only the features in `wild` are."""

    draw: Any
    wild: frozenset[str]
    arms: int
    names: tuple[Any, ...]
    noise: Any
    index: Index
    adds: bool
    spare: tuple[Any, ...]

    @property
    def everyone(self) -> tuple[int, ...]:
        """All arms, in order."""
        return tuple(range(self.arms))

    def pull(self, arm: int | None) -> Pull:
        """Return a play of mostly one round."""
        return Pull(arm, rarely(self.draw, st.just(1), st.sampled_from((2, 3))))

    def tell(self, register: Any = None, arm: int | None = None, rounds: int = 1) -> Tell | Answer:
        """Return a release: of the mean of the last play, if tame."""
        draw = self.draw
        if "responses" in self.wild and (self.wild == {"responses"} or draw(st.booleans())):
            return Answer(register, arm, *draw(st.sampled_from(RESPONSES)))
        window: Any = ("last", rounds)
        if "windows" in self.wild:
            window = rarely(draw, st.just(window), st.sampled_from(WINDOWS), 2)
        divisor = draw(st.sampled_from(DIVISORS)) if "divisors" in self.wild else rounds
        add = rarely(draw, st.just(self.adds), st.booleans()) if "adds" in self.wild else self.adds
        return Tell(register, arm, window, draw(self.noise), divisor, add)

    def shown(self) -> tuple[Any, ...]:
        """Return what the arms show: their own registers, if tame."""
        names, spare = self.names, self.spare
        own = tuple((name,) for name in names)
        if "shown" not in self.wild:
            return own
        wild = [own[::-1], tuple((n, names[0])[: 1 + (n != names[0])] for n in names), own]
        if spare:
            wild += [tuple((s,) for s in spare)]
            wild += [tuple(zip(names, spare, strict=True))] * 3
        return self.draw(st.sampled_from(wild))

    def order(self) -> Any:
        """Return among whom, in which order."""
        some = st.permutations(self.everyone).map(tuple)
        duel = st.permutations(self.everyone).map(lambda p: tuple(p[:2]))
        words = st.sampled_from(("fewest", "most", "recent"))
        chance = 1 if "order" in self.wild else 4
        return rarely(self.draw, st.just(self.everyone), words | some | duel, chance)

    def pick(self) -> Pick:
        """Return a choice by the declaration's rule, if tame."""
        index = self.index
        if "rules" in self.wild:
            index = rarely(self.draw, st.just(index), indices(self.arms), 3)
        return Pick(self.order(), self.shown(), index)

    def turn(self) -> list[Any]:
        """Return choose, play what was chosen, release, if tame; else a decision may be hidden."""
        draw = self.draw
        way = draw(st.integers(0, 7)) if "hidden" in self.wild else 0
        fixed = draw(st.sampled_from(self.everyone)) if way else 0
        played = self.pull(None if way < 4 else fixed)
        told = self.tell(None, None, played.rounds)
        match way:
            case 2:  # which decision counted shows only later, or never
                return [self.pick(), Pull(fixed), self.pick(), played, told]
            case 3 | 7:
                width = draw(st.sampled_from((0, 0.5, 1)))
                return [Trim(self.order(), self.shown(), width), played, told]
            case 5:
                return [self.pick(), played, told, Pull(None), self.tell()]
            case 6:
                again = self.tell(self.names[fixed], fixed)
                return [played, told, again, self.pick(), Pull(None)]
        if "coins" in self.wild and draw(st.booleans()):
            return [self.pick(), self.flip(), played, told]
        if "stops" in self.wild and draw(st.booleans()):
            return [self.pick(), Halt(self.arms + draw(st.integers(0, 3))), played, told]
        return [self.pick(), played, told]

    def flip(self) -> Flip:
        """Return a coin that may overrule the latest decision."""
        some = [Fraction(1, 2 * self.arms)] * self.arms
        whole = [0] * (self.arms - 1)
        coins = [
            ("pulls",),
            (*some, Fraction(1, 2)),
            (*whole, Fraction(1, 3), Fraction(2, 3)),
            (1, *whole),
        ]
        return Flip(self.draw(st.sampled_from(coins)))


@st.composite
def scripts(draw: Any) -> tuple[Algorithm, int]:
    """Return a script and its horizon: tame, wild in one feature, or in all of them."""
    every = frozenset(FEATURES)
    one = [frozenset({feature}) for feature in FEATURES]
    wild = draw(st.sampled_from([frozenset(), frozenset(), *one, *one, every, every, every]))
    arms = draw(st.sampled_from((2, 2, 2, 2, 3, 3, 4)))
    everyone = tuple(range(arms))
    names = everyone
    if "names" in wild:
        strange = (everyone[::-1], tuple("dcba"[:arms]), tuple((a, "x") for a in everyone))
        names = draw(st.sampled_from(strange))
    two = "shown" in wild and draw(st.booleans())
    make = Maker(
        draw,
        wild,
        arms,
        names,
        draw(laws("noise" in wild)),
        draw(indices(arms)),
        rarely(draw, st.just(False), st.just(True), 3),
        tuple(("spare", a) for a in everyone) if two else (),
    )
    opening: list[Any] = []
    for arm in draw(st.permutations(everyone)):
        first = make.pull(arm)
        opening += [first, make.tell(None, arm, first.rounds)]
        if make.spare:
            opening.append(make.tell(make.spare[arm], arm, first.rounds))
    body = [part for _ in range(draw(st.integers(1, 2))) for part in make.turn()]
    told = draw(st.integers(0, 9)) == 0
    ending = tuple(make.turn()) if told else ()
    states = draw(st.sampled_from(("tuple", "named", "record", "set", "flag", "enum")))
    program = Program(tuple(opening), tuple(body), names, states, ending)
    begun = sum(part.rounds for part in opening if isinstance(part, Pull))
    horizon = begun + draw(st.integers(1, 3 if arms < 4 else 2))
    if told:
        return Told(arms=arms, program=program, horizon=horizon), horizon
    return Script(arms=arms, program=program), horizon


@st.composite
def frames(draw: Any) -> tuple[Algorithm, int]:
    """Return an algorithm of episodes and its horizon."""
    arms = draw(st.sampled_from((2, 2, 2, 3)))
    noise = draw(draw(laws(draw(st.integers(0, 3)) == 0)))
    shows = rarely(draw, st.just("own"), st.sampled_from(("crossed", "both")), 5)
    algorithm = Framed(
        arms=arms,
        style=draw(st.sampled_from(sorted(STYLES))),
        lengths=draw(st.sampled_from(("doubling", (1,), (1, 2), (2, 1, 3)))),
        noise=noise,
        divisor=rarely(draw, st.just("length"), st.sampled_from((1, 2, Fraction(3, 2))), 3),
        window=rarely(draw, st.just("episode"), st.just("all"), 4),
        adds=rarely(draw, st.just(False), st.just(True), 3),
        shows=shows,
        begins=rarely(draw, st.just(0), st.just(arms - 1), 5),
        explores=rarely(draw, st.just(()), st.sampled_from(EXPLORED), 4),
    )
    return algorithm, arms + draw(st.integers(1, 4 if arms == 2 else 2))


@st.composite
def cases(draw: Any) -> Case:
    """Return declarations of both kinds, with a stream."""
    algorithm, horizon = draw(frames()) if draw(st.integers(0, 3)) == 0 else draw(scripts())
    rewards = rarely(draw, st.just((0.0, 1.0)), st.just((0.0, 0.25, 0.5, 1.0)))
    stream = draw(st.tuples(*[st.sampled_from(rewards)] * horizon))
    return Case(algorithm, horizon, stream)
