"""The Hypothesis strategy: random declarations with a horizon and a reward stream.

Most parts of a declaration are tame, so that engines answer; each may be wild, so that they must
notice. Dyadic parameters keep ties exact where there is no noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from declarations import Pick, Program, Pull, Script, Tell, Told, Trim
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
KINDS = ("affine", "affine", "affine", "kl", "private kl", "imed", "private imed", "beta")


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
    level = numbers((0.25, 1, Fraction(1, 2), 2)) if "kl" in kind else 1
    return Index(kind, shift, scale, level, draw(st.sampled_from((0, 0, 1, 0.5))))


@st.composite
def noises(draw: Any) -> Any:
    """Return a strategy of noises: mostly one Laplace law for a whole declaration."""
    kind = draw(st.integers(0, 11))
    one = draw(st.sampled_from(SCALES))
    if kind < 5:
        return st.just(("Laplace", one))
    several = st.sampled_from([("Laplace", scale) for scale in SCALES])
    gaussian = st.sampled_from((("Gaussian", 1.0), ("Gaussian", 0.5)))
    return (
        several,
        several,
        several,
        several,
        gaussian,
        st.just(("NoNoise",)),
        several | gaussian | st.just(("NoNoise",)),
    )[kind - 5]


@st.composite
def scripts(draw: Any) -> tuple[Algorithm, int]:
    """Return a script and its horizon."""
    arms = draw(st.sampled_from((2, 2, 2, 2, 3, 3, 4)))
    everyone = tuple(range(arms))
    noise = draw(noises())
    names = rarely(
        draw,
        st.just(everyone),
        st.sampled_from((everyone[::-1], tuple("dcba"[:arms]), tuple((a, "x") for a in everyone))),
    )
    tame = draw(st.booleans())
    index = draw(indices(arms))
    adds = draw(st.booleans()) if not tame else False
    divisors = st.sampled_from((1, 2, Fraction(3, 2), Fraction(1, 2)))

    def tell(register: Any = None, arm: int | None = None, rounds: int = 1) -> Tell:
        window = (
            ("last", rounds)
            if tame
            else rarely(draw, st.just(("last", rounds)), st.sampled_from(WINDOWS), 3)
        )
        divisor = rounds if tame else draw(divisors)
        add = adds if tame else rarely(draw, st.just(adds), st.booleans())
        return Tell(register, arm, window, draw(noise), divisor, add)

    def pull(arm: int | None) -> Pull:
        return Pull(arm, rarely(draw, st.just(1), st.sampled_from((2, 3))))

    spare = tuple(("spare", a) for a in everyone) if not tame and draw(st.booleans()) else None
    opening: list[Any] = []
    for arm in draw(st.permutations(everyone)):
        first = pull(arm)
        opening += [first, tell(None, arm, first.rounds)]
        if spare is not None:
            opening.append(tell(spare[arm], arm, first.rounds))

    def shown() -> tuple[Any, ...]:
        own = tuple((name,) for name in names)
        if tame:
            return own
        wild = [own[::-1], tuple((name, names[0])[: 1 + (name != names[0])] for name in names), own]
        if spare is not None:
            wild += [tuple((spare[a],) for a in everyone)]
            wild += [tuple((names[a], spare[a]) for a in everyone)] * 3
        return draw(st.sampled_from(wild))

    def order() -> Any:
        some = st.permutations(everyone).map(tuple)
        duel = st.permutations(everyone).map(lambda p: tuple(p[:2]))
        words = st.sampled_from(("fewest", "most", "recent"))
        return rarely(draw, st.just(everyone), some | duel | words, 3)

    def pick() -> Pick:
        own = index if tame else rarely(draw, st.just(index), indices(arms), 6)
        return Pick(order(), shown(), own)

    def turn() -> list[Any]:
        way = 0 if tame else draw(st.integers(0, 9))
        fixed = draw(st.sampled_from(everyone)) if way > 4 else 0
        played = pull(None if way < 7 else fixed)
        told = tell(None, None, played.rounds)
        if way < 5:
            return [pick(), played, told]
        if way == 5:  # which decision counted shows only later, or never
            return [pick(), Pull(fixed), pick(), played, told]
        if way == 6:
            return [Trim(order(), shown(), draw(st.sampled_from((0, 0.5, 1)))), played, told]
        if way == 7:
            return [pick(), played, told]
        if way == 8:
            return [pick(), played, told, Pull(None), tell()]
        return [played, told, tell(names[fixed], fixed), pick(), Pull(None)]

    body = [part for _ in range(draw(st.integers(1, 2))) for part in turn()]
    told = not tame and draw(st.integers(0, 5)) == 0
    ending = tuple(turn()) if told else ()
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
    noise = draw(draw(noises()))
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
    )
    return algorithm, arms + draw(st.integers(1, 4 if arms == 2 else 2))


@st.composite
def cases(draw: Any) -> Case:
    """Return declarations of both kinds, with a stream."""
    algorithm, horizon = draw(frames()) if draw(st.integers(0, 3)) == 0 else draw(scripts())
    rewards = rarely(draw, st.just((0.0, 1.0)), st.just((0.0, 0.25, 0.5, 1.0)))
    stream = draw(st.tuples(*[st.sampled_from(rewards)] * horizon))
    return Case(algorithm, horizon, stream)
