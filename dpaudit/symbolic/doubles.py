"""What the judged code's values are in doubles: for (epsilon', delta') of code with numpy's noise.

Beside its form in real arithmetic a value carries how it was computed (`Computed`): a bound on its
size; of sums of rewards, how far the double may be from the real number, whatever the order of the
sum; of a noisy value, which draws it depends on and that it rises or falls in each of them. A
release is the sum of a number made of rewards and one draw of numpy's Laplace noise, in one
operation. Sums, products with public numbers, clips, maxima and minima keep what is known; anything
else leaves a reason in its place, and a decision on such a value ends the walk with that reason.

Along a path the `DrawTally` counts how often each released value is compared, and refuses what the
theorem does not cover (proofs/doubles.md, section 7): a reward or a draw in a second release, and
a value that is compared once more after it has won.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dpaudit.symbolic.run import Column, Run

HALF_ULP = 2.0**-53  # relative
UP = 1 + 1e-12  # outwards: more than the roundings of a few operations
LARGEST, SMALLEST = 1e200, 1e-200
MOST_TERMS = 2**30
NOISE = 37.0  # scales that no draw of numpy's Laplace noise exceeds
PLAIN = (bool, int, float, np.float64, np.int64, np.bool_)
NOT_FOLLOWED = (
    "an index is more than sums, products with public numbers, clips, maxima and minima of "
    "released values"
)


@dataclass(frozen=True)
class Computed:
    """How a double was computed; `wrong` bounds its distance from the real number, of rewards."""

    size: float
    rewards: bool = False
    """Whether rewards are in it that no noise hides yet."""
    error: float = 0.0
    """Of all terms together, before they are added up."""
    terms: int = 1
    moves: tuple[tuple[int, int], ...] = ()
    """The draws that it depends on through a release; whether it rises (1) or falls (-1) where that
    release moves as its rewards do when they rise."""
    products: int | None = None
    """Of a draw to which nothing was added: how often it was multiplied."""

    @property
    def wrong(self) -> float:
        """Each of the additions rounds a number of at most all sizes together, in any order."""
        rounded = 1.001 * (self.terms - 1) * HALF_ULP * (self.size + self.error)
        return (self.error + rounded) * UP


Known = Computed | str


class Value:
    """What carries how its double is computed, in a walk that asks for that; None elsewhere."""

    __slots__ = ("computed",)
    computed: Known | None


REWARD = Computed(1.0, rewards=True)
COIN = Computed(1.0)


@dataclass
class Found:
    """The largest numbers of a walk: shift in scales, products of a draw, comparisons of one."""

    shift: Fraction = Fraction(0)
    products: int = 0
    compared: int = 0


@dataclass
class DrawTally:
    """What one path has done with its draws and rewards."""

    found: Found
    taken: set[int] = field(default_factory=set)
    """Draws that hide rewards, or have decided by themselves."""
    won: set[int] = field(default_factory=set)
    compared: dict[int, int] = field(default_factory=dict)
    released: set[int] = field(default_factory=set)
    """Rewards that noise hides, by their owners."""
    branches: int = 0
    forms: int = 0
    """How many branches and forms of the run are comparisons that were looked at."""

    def copy(self) -> DrawTally:
        """Return a tally of its own, for a new run."""
        sets = set(self.taken), set(self.won), dict(self.compared), set(self.released)
        return DrawTally(self.found, *sets)

    def settled(
        self, draws: Iterable[int], columns: dict[int, Column], twins: dict[int, int]
    ) -> DrawTally:
        """Return what is left of it: live draws, and a reward for all that it stands for."""
        live, new = set(draws), self.copy()
        new.taken &= live
        new.won &= live
        new.compared = {draw: count for draw, count in self.compared.items() if draw in live}
        for gone, kept in twins.items():
            if columns[gone].owner in self.released:
                new.released.add(columns[kept].owner)
        new.released &= {column.owner for column in columns.values()}
        return new

    def join(self, other: DrawTally, draws: Iterable[tuple[int, int]], owners: Any) -> None:
        """Stand for an equal state too, whose draws and rewards are named by pairs."""
        for mine, its in draws:
            if its in other.taken:
                self.taken.add(mine)
            if its in other.won:
                self.won.add(mine)
            if count := max(self.compared.get(mine, 0), other.compared.get(its, 0)):
                self.compared[mine] = count
        self.released |= {mine for mine, its in owners if its in other.released}


def number_of(value: Any) -> float | None:
    """Return the size of a public number that doubles hold exactly; None for any other."""
    most = LARGEST if isinstance(value, float) else 2**53
    return abs(float(value)) if type(value) in PLAIN and -most <= value <= most else None


def noise(scale: Any, draw: int) -> Known:
    """Return a draw of numpy's Laplace noise."""
    size = number_of(scale)
    if size is None or not SMALLEST < size < LARGEST:
        return "the scale of noise is no double, or so large or small that doubles overflow"
    return Computed(NOISE * size, moves=((draw, 1),), products=0)


def _held(found: Computed) -> Known:
    if not found.size < LARGEST or found.terms > MOST_TERMS:
        return "a number may overflow"
    return found


def known(value: Any) -> Known:
    """Return how an operand was computed."""
    if isinstance(value, Value):
        return value.computed if value.computed is not None else NOT_FOLLOWED
    size = number_of(value)
    return "a public number is no double" if size is None else Computed(size)


def added(run: Run, a: Any, b: Any, sign: int) -> Known:
    """Return how a + sign b is computed; rewards and a draw make a release."""
    one, two = known(a), known(b)
    if isinstance(one, str) or isinstance(two, str):
        return one if isinstance(one, str) else two
    if not isinstance(b, Value) and b == 0:
        return one
    if one.products is not None:
        return _release(run, one, a, two, b, sign)
    if two.products is not None:
        return _release(run, two, b, one, a, 1)
    moves = dict(one.moves)
    for draw, way in two.moves:
        if moves.setdefault(draw, sign * way) != sign * way:
            return "a released value is added to an index and taken from it"
    if moves and (one.rewards or two.rewards):
        return "rewards are added to a value that has its noise already"
    if one.rewards and two.rewards and any(a.rows.get(k) == -sign * w for k, w in b.rows.items()):
        return "rewards are added and taken away again, and their rounding stays"
    return _held(
        Computed(
            (one.size + two.size) * UP,
            one.rewards or two.rewards,
            (one.error + two.error) * UP,
            one.terms + two.terms,
            tuple(moves.items()),
        )
    )


def _release(run: Run, bare: Computed, noise: Any, other: Computed, raw: Any, way: int) -> Known:
    """Return the sum of a draw and of what it hides, which enters with the sign `way`."""
    if not other.rewards:
        return "a draw is added to another draw, or to a public number, before it hides rewards"
    tally = run.tally
    assert tally is not None
    [(draw, _)] = bare.moves
    owners: dict[int, Any] = {}
    for row, weight in raw.rows.items():
        column = run.columns[row]
        owners[column.owner] = owners.get(column.owner, 0) + abs(weight) * column.reach
    if draw in tally.taken:
        return "one draw of noise is used twice"
    if owners.keys() & tally.released:
        return "a reward enters more than one release"
    scale = run.laws[draw].scale
    assert scale is not None and bare.products is not None
    width = scale * abs(noise.draws[draw])
    if not SMALLEST < width < LARGEST:
        return "noise is so large or small that doubles overflow"
    moved = max(owners.values(), default=0) + 2 * Fraction(other.wrong)
    tally.taken.add(draw)
    tally.released |= owners.keys()
    tally.found.shift = max(tally.found.shift, moved / width)
    tally.found.products = max(tally.found.products, bare.products)
    falls = all(weight < 0 for weight in raw.rows.values())
    return _held(Computed((bare.size + other.size) * UP, moves=((draw, -way if falls else way),)))


def multiplied(_: Run, value: Any, factor: Any) -> Known:
    """Return how a product with a public number is computed."""
    return _scaled(value, factor, divided=False)


def divided(_: Run, value: Any, divisor: Any) -> Known:
    """Return how a quotient by a public number is computed."""
    return _scaled(value, divisor, divided=True)


def _scaled(value: Any, number: Any, divided: bool) -> Known:
    before, size = known(value), number_of(number)
    if isinstance(before, str) or isinstance(number, Value):
        return before if isinstance(before, str) else NOT_FOLLOWED
    if size is None or not SMALLEST < size < LARGEST:
        return "a factor is no double, zero, or so large or small that doubles overflow"
    factor = 1 / size if divided else size
    exactly = size == 1
    way = 1 if number > 0 else -1
    new = before.size * factor * UP
    return _held(
        Computed(
            new,
            before.rewards,
            before.wrong * factor * UP + (0.0 if exactly else HALF_ULP * new * UP + 5e-324),
            1,
            tuple((draw, way * sign) for draw, sign in before.moves),
            None if before.products is None else before.products + (not exactly),
        )
    )


def clipped(_: Run, value: Any, moves: Any) -> Known:
    """Return how a value that is moved into an interval is computed: exactly, and in order."""
    before = known(value) if value is not None else NOT_FOLLOWED
    if isinstance(before, str):
        return before
    if before.products is not None or (before.rewards and len(value.rows) > 1):
        return "a draw or a sum of rewards is clipped before noise hides it"
    size = max(abs(float(moves(end))) for end in (-before.size, before.size)) * UP
    return _held(replace(before, size=size, error=before.wrong, terms=1))


def in_any_order(values: Sequence[Any], total: Any) -> Any:
    """Return a sum that a library makes, in an order of its own: rewards alone bear that."""
    if isinstance(total, Value) and isinstance(total.computed, Computed):
        parts = [known(value) for value in values]
        if any(isinstance(part, str) or part.moves for part in parts):
            total.computed = "noise is among the terms of a sum, whose order is the library's"
    return total


def followed(run: Run, forms: int, larger: Any, others: Sequence[Any]) -> None:
    """Take note of a branch: one value is larger than the others. Its forms begin at `forms`.

    In each release the outcome is a half line, the others fixed. Where it is the one that larger
    rewards lead to, the release has won, and may not be compared again.
    """
    tally = run.tally
    if tally is None:
        return
    tally.branches += 1
    tally.forms += len(run.forms) - forms
    ways: dict[int, int] = {}
    for value, way in ((larger, 1), *((other, -1) for other in others)):
        part = required(run, value)
        if part.rewards:
            raise run.escape("rewards are compared before noise hides them")
        if part.products is not None:
            [(draw, _)] = part.moves
            if draw in tally.taken:
                raise run.escape("one draw of noise is used twice")
            tally.taken.add(draw)
            continue
        for draw, rises in part.moves:
            if ways.setdefault(draw, way * rises) != way * rises:
                raise run.escape("a released value is on both sides of a comparison")
    for draw, way in ways.items():
        if draw in tally.won:
            raise run.escape(
                "a released value is compared again after it has won",
                "release it anew before the next decision, and let one decision compare all "
                "indices at once (np.argmax, max())",
            )
        tally.compared[draw] = tally.compared.get(draw, 0) + 1
        tally.found.compared = max(tally.found.compared, tally.compared[draw])
        if way > 0:
            tally.won.add(draw)


def required(run: Run, value: Any) -> Computed:
    """Return how a compared value was computed, or end the walk with what is in the way."""
    if isinstance(value, float) and math.isinf(value):
        return Computed(0.0)
    found = known(value)
    if isinstance(found, str):
        raise run.escape(found)
    return found


def implied(run: Run, *values: Any) -> None:
    """End a walk where an answer is taken from real arithmetic, unless doubles give the same."""
    for value in values if run.tally is not None else ():
        part = required(run, value)
        if isinstance(value, Value) and not (part.rewards and part.wrong == 0):
            raise run.escape("an answer that is known in real arithmetic, and not in doubles")


def looked_at(run: Run) -> None:
    """End a walk where a run has decided by anything else than comparisons that were followed."""
    tally = run.tally
    if tally is None:
        return
    if run.coins or (tally.branches, tally.forms) != (len(run.trace), len(run.forms)):
        raise run.escape("it decides by something else than comparisons of indices")
