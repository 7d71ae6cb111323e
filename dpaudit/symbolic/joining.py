"""Branches that join again: `if reward > 0.5: total += 1.0` is a reward of another size.

Two outcomes of a comparison with one raw reward r (or of a coin against it) may leave states that
differ in numbers alone: a on one side, b on the other. Each such number is b + (a - b) m, where m
is 1 on the first side and 0 on the second: a new symbol that r moves by at most 1. Nothing then
depends on which side was taken, as long as both sides drew from the same laws, branched on nothing
more and left everything else as it was.

The sides of a fair coin join where they differ by the sign of one exponential draw alone, of which
nothing else is left: a sign times an exponential draw is Laplace noise.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.symbolic.run import UNIT, Column, DrawLaw, Escape, Fork, Run, active
from dpaudit.symbolic.snapshot import OPEN, Copier
from dpaudit.symbolic.values import Linear
from dpaudit.symbolic.weights import HUGE, combined, exact

ZERO = "0.0", False  # the mark of 0.0, after its type; -0.0 has another
NUMBERS = (float, np.float64)  # whole numbers have other arrays than symbols do, and wrap around


@dataclass(frozen=True)
class Leaf:
    """One outcome of a segment: the run, what it left, the arms that it played."""

    run: Run
    body: Any
    arms: tuple[int, ...]

    @property
    def fork(self) -> Fork | None:
        """The last branch, if it can join again and nothing was asked after it."""
        run = self.run
        if not run.trace or run.trace[-1][1] != 2 or not run.forks:
            return None
        last = run.forks[-1]
        at_end = last.position == len(run.trace) - 1 and last.end == len(run.forms)
        return last if at_end and last.coins == len(run.coins) else None


def joined(leaves: Iterable[Leaf], copier: Any) -> list[Leaf]:
    """Return the leaves, with one in place of two that join again; `copier` makes copiers."""
    found: list[Leaf] = []
    waiting: dict[Any, Leaf] = {}
    for leaf in leaves:
        if leaf.fork is None:
            found.append(leaf)
            continue
        place = tuple(leaf.run.trace[:-1])
        other = waiting.pop(place, None)
        if other is None:
            waiting[place] = leaf
            continue
        whole = _together(other, leaf, copier)
        found += [other, leaf] if whole is None else [whole]
    return [*found, *waiting.values()]


def _together(one: Leaf, two: Leaf, copier: Any) -> Leaf | None:
    fork = one.fork
    if fork is None or not _alike(one.run, two.run, fork.symbol) or one.arms != two.arms:
        return None
    if any(n > fork.symbol and it.owner != n for n, it in one.run.columns.items()):
        return None  # a function of a reward that was made on one side is another on the other
    if fork.row is None and not any(
        it.width and n > one.run.first for n, it in one.run.laws.items()
    ):
        return None
    keys = [copier(keyed=True), copier(keyed=True)]
    for it, leaf in zip(keys, (one, two), strict=True):
        it(leaf.body)
    if fork.draw is not None and any(fork.draw in draws for it in keys for draws in _draws(it)):
        return None
    run = copy.copy(one.run)
    run.trace, run.forms = run.trace[:-1], run.forms[: fork.start]
    if fork.row is None:
        return _signed(one, run, *keys)
    run.columns, name = dict(run.columns), run.symbol()
    known = run.columns[fork.row]
    run.columns[name] = Column(known.owner, UNIT[1], known.round, ends=UNIT)
    instead = _instead(keys[0], keys[1], name, run)
    if instead is None:
        return None
    run.coins = [coin for coin in run.coins if fork.draw is None or coin.draw != fork.draw]
    try:
        with active(Run()):
            body = copier(keyed=True, instead=instead)(one.body)
    except Escape:  # a number that is the name of something
        return None
    return Leaf(run, body, one.arms)


def _signed(leaf: Leaf, run: Run, one: Copier, two: Copier) -> Leaf | None:
    """Return one leaf with Laplace noise in place of an exponential draw and the sign of a coin."""
    if one.key != two.key:
        return None
    turned: set[int] = set()
    for x, y in zip(one.met, two.met, strict=True):
        if x is y:
            continue
        if not (isinstance(x, Linear) and isinstance(y, Linear)):
            return None
        if x.rest != y.rest or x.rows != y.rows or x.publics != y.publics:
            return None
        if any(public > run.first for public in x.publics):
            return None
        names = {n for n in {*x.draws, *y.draws} if x.draws.get(n, 0) != y.draws.get(n, 0)}
        if any(x.draws.get(n, 0) != -y.draws.get(n, 0) for n in names):
            return None
        turned |= names
    if len(turned) != 1:
        return None
    [name] = turned
    if name <= run.first or name in run.replaced or not run.laws[name].width:
        return None
    met = zip(one.met, two.met, strict=True)
    kept = any(name in draws and x.forms() == y.forms() for x, y in met for _, draws in x.forms())
    if kept or any(name in form.draws for form in run.forms):
        return None
    law = run.laws[name]
    assert law.width is not None
    run.laws = {**run.laws, name: DrawLaw("laplace", abs(law.width), law.place)}
    return Leaf(run, leaf.body, leaf.arms)


def _draws(copier: Copier) -> Iterable[dict[int, Any]]:
    return (draws for value in copier.met for _, draws in value.forms())


def _alike(one: Run, two: Run, before: int) -> bool:
    """Tell whether two runs, alike before a symbol, made the same symbols with the same laws."""
    return (
        one.next_symbol == two.next_symbol
        and one.columns == two.columns
        and one.replaced == two.replaced
        and {n: law.identity for n, law in one.laws.items()}
        == {n: law.identity for n, law in two.laws.items()}
        and not any(None in law.given for n, law in one.laws.items() if n > before)
    )


def _instead(one: Copier, two: Copier, name: int, run: Run) -> dict[int, Linear] | None:
    """Return what stands at each place where two bodies differ; None if it is not numbers alone."""
    assert one.key is not None and two.key is not None
    if len(one.key) != len(two.key):
        return None
    found: dict[int, Linear] = {}
    values = zip(one.met, two.met, strict=False)
    for place, (a, b) in enumerate(zip(one.key, two.key, strict=True)):
        if a is OPEN and b is OPEN:
            x, y = next(values)
            if x is y:
                continue
            value = _mixed(x, y, name, run)
            if value is None:
                return None
            found[place] = value
        elif a is OPEN or b is OPEN:
            return None
        elif a != b:
            numbers = [_number(mark) for mark in (a, b)]
            if None in numbers or numbers[0] == numbers[1]:
                return None  # no numbers, or one number of two types
            found[place] = Linear(numbers[1], {name: numbers[0] - numbers[1]}, {})
    return found


def _number(mark: Any) -> Any:
    """Return the number that a mark of a key stands for, if it is one that a symbol can be."""
    if type(mark) is not tuple or mark[0] not in NUMBERS:
        return None
    if mark[-1] == "element":
        if mark[0] is not np.float64:
            return None  # arrays of integers hold no symbols
        mark = mark[:-1]
    if mark[1:] == ZERO:
        return 0
    return exact(mark[1]) if len(mark) == 2 and abs(mark[1]) < HUGE else None


def _mixed(x: Any, y: Any, name: int, run: Run) -> Linear | None:
    """Return y + (x - y) m for values that differ in their public part alone."""
    if not (isinstance(x, Linear) and isinstance(y, Linear)):
        return None  # a function of forms that was made on one side is another one on the other
    if x.rows != y.rows or x.draws != y.draws or x.publics != y.publics or x.whole or y.whole:
        return None
    if any(public > run.first for public in x.publics):
        return None  # unknown, and perhaps another number on the other side
    if x.rest == y.rest:
        return x
    rows = combined(x.rows, {name: x.rest - y.rest}, 1)
    return Linear(y.rest, rows, x.draws, None, x.publics)
