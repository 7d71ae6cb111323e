"""What a proof says of the program that runs: the stream runner, with its rounding.

The model of a proof draws real numbers. A program draws integers or doubles.

On a lattice the two are one: rewards are rounded one by one to integers, which are added up
exactly, and an integer drawn by `dpaudit.noise` is added before anything is published. Whatever
doubles do then is post-processing, so the program has the epsilon of the proof, for every event.

In doubles pure epsilon fails (`dpaudit explain --float` shows how), and (epsilon', delta') is
proved where (b) a row enters one release, (c) a register holds one release and is overwritten once
its arm is played, (d) computed scores do not fall in their own register and ties go to the first
arm: delta' = (1 + e^epsilon') D TAU, where D is the largest number of decisions that one register
can lose, and epsilon' the largest distance of two computed means over the computed scale. The
argument, and what an elimination has in place of (c) and (d), lie in proofs/doubles.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Accumulate, Algorithm, Disclosure, Release, Rows
from dpaudit.core.algorithms import find, names
from dpaudit.core.conversions import double_above
from dpaudit.core.episodes import Asking, Episodes, framed
from dpaudit.core.noise import Laplace
from dpaudit.core.phases import Phases, in_phases
from dpaudit.core.scores import Affine, KLBound, Rule
from dpaudit.core.unchanged import stored, unchanged
from dpaudit.core.walk import Place
from dpaudit.structure.chain import Entangled, chain_of, requested, spread_out
from dpaudit.structure.ledger import Charge
from dpaudit.structure.phases import largest_charge
from dpaudit.verdict import Program

TAU = Fraction(3, 2**53)
"""The Kolmogorov distance between numpy's Laplace draws and the law: proofs/doubles.md."""
RUNNER = "dpaudit.core.stream.run_stream"
BITS = "its generator's bits are independent and unbiased"
UNIFORMS = (
    "numpy's 53-bit uniforms are independent, and log is within 1 ulp (log1p and expm1 within 4)"
)
REMEDY = "`--noise lattice` covers it"
RESPONSES = "it draws responses"
LARGEST = 1e100  # of a level: beyond 1e296 computed KL bounds are no longer in order
SMALLEST = Fraction(1, 10**200)  # of what a release divides by, scales by, or compares with
MOST_RELEASES = 5_000
MOST_DECISIONS = 20_000


class Uncovered(Exception):
    """A condition of the theorem on doubles fails; the message says which."""


def on_lattice(algorithm: Algorithm, epsilon: float | None = None) -> Program | None:
    """Return what is proved of the stream runner where noise is drawn on a lattice.

    Every release went through `Place.drawn_on_grid`, which leaves no law on the line.
    """
    if type(stored(algorithm, "grid")) is not int:  # a number that it holds, and nothing computes
        return None
    name = f"{RUNNER}, which adds up integers until a release is public"
    return Program(name, epsilon, 0.0, BITS)


def real_program(algorithm: Algorithm, horizon: int, charge: Charge) -> tuple[Program | None, str]:
    """Return what is proved of the stream runner on up to `horizon` rewards, or why nothing is.

    The declaration is one whose every release has been charged, with `charge` in all at most.
    """
    exactly = on_lattice(algorithm, double_above(charge))
    if exactly is not None or algorithm.grid is not None:
        return exactly, ""
    try:
        if in_phases(algorithm):
            shift, boundaries = _of_phases(algorithm, horizon)
        elif framed(algorithm) and unchanged(algorithm, Episodes, ("ask",)):
            shift, boundaries = _of_episodes(algorithm, horizon)
        else:
            raise Uncovered("the theorem on doubles is for episodes and eliminations in the frame")
    except (Uncovered, Entangled) as why:
        reason = str(why) or "an episode releases rows of another arm"
        remedy = "" if reason == RESPONSES else f"; {REMEDY}"
        return None, f"nothing is proved of the program, because {reason}{remedy}."
    found = with_boundaries(RUNNER, horizon, shift, boundaries * TAU)
    if found is None:
        return None, f"nothing is proved of the program, because its delta would be 1; {REMEDY}."
    return found, ""


def with_boundaries(
    name: str, horizon: int, shift: Fraction, moved: Fraction, assumes: str = UNIFORMS
) -> Program | None:
    """Return what the theorem says of a program; None where its delta would be 1.

    `shift` is epsilon', `moved` what all ends of an event's intervals in one draw cost together.
    """
    delta = float(moved) * (1 + math.exp(min(float(shift), 700.0)))
    delta = math.nextafter(delta * (1 + 1e-12), math.inf)  # a few roundings, each below 1e-15
    if delta >= 1:
        return None
    name = f"{name} with numpy's generator, within {horizon:,} rounds"
    return Program(name, double_above(shift), delta if moved else 0.0, assumes)


def shift_of(request: Disclosure, count: int) -> Fraction:
    """Return a bound on the distance of two computed means of `count` rewards, in computed scales.

    The sum is correctly rounded and at most `count`, the quotient at most count / divisor; a power
    of two divides exactly.
    """
    if not isinstance(request, Release):
        adds = isinstance(request, Accumulate)
        raise Uncovered("a register adds releases up" if adds else RESPONSES)
    if type(request.noise) is not Laplace:
        raise Uncovered(f"{type(request.noise).__name__} noise is no Laplace noise")
    divisor, scale = Fraction(float(request.divisor)), Fraction(float(request.noise.scale))
    if not all(SMALLEST < number < 1 / SMALLEST for number in (divisor, scale)):
        raise Uncovered("a divisor or a scale is so large or small that doubles overflow")
    moved = (1 + 2 * _half_ulp(Fraction(count))) / divisor
    if divisor.numerator & (divisor.numerator - 1) or divisor.denominator != 1:
        moved += 2 * _half_ulp(moved * count)
    return moved / scale


def _half_ulp(largest: Fraction) -> Fraction:
    """Return the most that a number of up to `largest` moves when it is rounded to a double."""
    above = float(largest)
    if Fraction(above) < largest:
        above = math.nextafter(above, math.inf)
    return Fraction(math.ulp(math.nextafter(above, 0.0))) / 2


def _of_episodes(algorithm: Episodes, horizon: int) -> tuple[Fraction, int]:
    """Return epsilon' and D of episodes that forget."""
    shift, counts, lengths = Fraction(0), [], []
    for arm in range(algorithm.arms):
        ends: list[int] = []
        for rows in chain_of(algorithm, arm, horizon):
            request = requested(algorithm, rows)
            shift = max(shift, shift_of(request, len(rows)))
            _require_one_register(algorithm, request, rows)
            ends.append(rows.stop)
            if len(ends) > MOST_RELEASES:
                raise Uncovered(f"an arm has more than {MOST_RELEASES:,} releases to look at")
        counts.append(ends)
        lengths.append([after - before for before, after in zip(ends, ends[1:], strict=False)])
    for place in _decisions(algorithm, counts, horizon):
        require_monotone(place.rule)
    return shift, max(_most_losses(lengths, arm, horizon) for arm in range(algorithm.arms))


def _require_one_register(algorithm: Episodes, request: Any, rows: Rows) -> None:
    if request.rows != rows:
        raise Uncovered("a reward enters more than one release, or none")
    shown = algorithm.registers(rows.arm, rows.stop)
    if type(request.register) is not int or (request.register, shown) != (rows.arm, (rows.arm,)):
        raise Uncovered("an arm shows more than the one register that its last release wrote")


def _most_losses(lengths: list[list[int]], arm: int, horizon: int) -> int:
    """Return how many decisions one register of an arm can lose before the horizon, or more.

    Each of them begins an episode of another arm. Sorted by length, whichever arm's they are, as
    many as possible begin before the horizon.
    """
    others = sorted(n for other, own in enumerate(lengths) if other != arm for n in own)
    time, lost = len(lengths), 0
    for rounds in (*others, horizon):
        if time >= horizon:
            break
        lost, time = lost + 1, time + rounds
    return lost


def _decisions(algorithm: Episodes, counts: list[list[int]], horizon: int) -> Iterator[Place]:
    """Yield the decisions to look at: all of them, or some of an algorithm that ships.

    What ships has one kind of rule in every state, which a test of every algorithm looks at.
    """
    shipped = [kind for kind in map(find, names()) if issubclass(kind, Episodes)]
    ships = any(unchanged(algorithm, kind, ("rule", "registers")) for kind in shipped)
    if not ships and math.prod(map(len, counts)) > MOST_DECISIONS:
        raise Uncovered(f"there are more than {MOST_DECISIONS:,} decisions to look at")
    if not all(counts):
        return
    looked = [[own[i] for i in spread_out(len(own))] if ships else own for own in counts]
    if ships:
        longest = max(map(len, looked))
        chosen: Any = [
            tuple(own[min(i + shift, len(own) - 1)] for shift, own in enumerate(looked))
            for i in range(longest)
        ]
    else:
        chosen = product(*looked)
    written = frozenset(range(algorithm.arms))
    for pulls in chosen:
        if sum(pulls) < horizon:
            yield Place(algorithm, Asking(pulls), pulls, sum(pulls), written)


def require_monotone(rule: Rule) -> None:
    """Raise unless computed scores do not fall in their own register."""
    kind = type(rule)
    if kind not in (Affine, KLBound) or vars(rule).keys() != {it.name for it in fields(kind)}:
        raise Uncovered(f"{kind.__name__} is not shown to be monotone in one register in doubles")
    for name, value in vars(rule).items():
        array = type(value) is np.ndarray and value.dtype.kind in "fiu"
        if not array and type(value) not in (int, float, np.float64, np.int64):
            raise Uncovered(f"a {kind.__name__} has a {name} that is not made of numbers")
        numbers = np.asarray(value, dtype=float)
        if not np.isfinite(numbers).all() or (name == "scale" and not (numbers > 0).all()):
            raise Uncovered(f"a {kind.__name__} has a {name} that is not finite, or not positive")
        if (
            name == "level"
            and not ((numbers == 0) | (numbers > float(SMALLEST)) & (numbers < LARGEST)).all()
        ):
            raise Uncovered(f"a {kind.__name__} has a negative, a tiny or a huge level")


def _of_phases(algorithm: Phases, horizon: int) -> tuple[Fraction, int]:
    """Return epsilon' and D of an elimination: a register is read once, with K boundaries."""
    shifts: list[Fraction] = []

    def heard(asked: tuple[Any, ...]) -> None:
        for what, _, count, *charge in asked:
            if what == "release":
                scale = 1 / (count * Fraction(charge[0]))
                rows = Rows(0, 0, count)
                shifts.append(shift_of(Release(0, rows, Laplace(scale), count), count))

    _, covered = largest_charge(algorithm, horizon, time.monotonic() + 1.0, heard=heard)
    if covered < horizon:
        raise Uncovered("there are too many phases to look at in a second")
    return max(shifts, default=Fraction(0)), algorithm.arms
