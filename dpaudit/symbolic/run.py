"""One run of foreign code on symbols: where it branches, what it draws, why it had to stop.

A run follows a prefix of choices and takes the first outcome of every later branch; the walk makes
it again for the others. What a branch depends on is recorded as forms. In a guarded run every
symbol
also carries the double that the real program has (its shadow), which then decides.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpaudit.symbolic.doubles import DrawTally

MOST_BRANCHES = 400  # of one round
WHOLE = (
    "what a function of the whole stream keeps in its variables cannot be copied, so that every "
    "path of it is run to its end; write it as a class with select and update"
)
RELATIVE = 1e-7  # how far a form may be from the double that it stands for


@dataclass(frozen=True)
class CodeLine:
    """A line of a file: of the judged code, or what a report points at."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file.rpartition('/')[2]}:{self.line}"


NOWHERE = CodeLine("", 0)
Exact = int | Fraction
STANDS_FOR = {
    "Source": "random generator",
    "Linear": "value that depends on rewards or noise",
    "Opaque": "value that depends on rewards or noise",
    "Answer": "comparison of such values",
    "FrozenLaw": "law of scipy.stats",
    "Array": "numpy array",
}
UNIT: tuple[Exact, Exact] = (0, 1)


def named(kind: type) -> str:
    """Return what judged code takes a class for, where the reader has another in its place."""
    own = kind.__module__.startswith("dpaudit.symbolic.")
    return STANDS_FOR.get(kind.__name__, kind.__name__) if own else kind.__name__


LATTICE = "lattice"  # the kind of an integer draw that hides integers


class Escape(BaseException):
    """The code does what symbols cannot follow; not an `Exception`, and remembered if swallowed."""

    def __init__(self, construct: str, remedy: str = "", place: CodeLine = NOWHERE) -> None:
        super().__init__(construct)
        self.construct, self.remedy, self.place = construct, remedy, place

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place.line else ""
        remedy = f". {self.remedy[:1].upper()}{self.remedy[1:]}" if self.remedy else ""
        return f"{where}{self.construct}{remedy}"


class Disagreement(BaseException):
    """The symbolic and the real program differ: nothing may be concluded."""


@dataclass(frozen=True)
class DrawLaw:
    """How a draw is distributed: its scale where a shift has a price, else shifts are
    impossible."""

    kind: str
    scale: Fraction | None = None
    place: CodeLine = NOWHERE
    continuous: bool = True
    width: Fraction | None = None
    """The scale of an exponential law, two of which may make a Laplace draw."""
    steps: Fraction | None = None
    """The scale of an integer draw, which hides integers alone."""
    given: tuple[Any, ...] = ()
    """What else the law is given by; None for a parameter that is no public number."""

    @property
    def identity(self) -> tuple[Any, ...]:
        """All that two draws of one law have in common."""
        return self.kind, self.scale, self.continuous, self.width, self.steps, self.given


@dataclass
class Form:
    """A form that a branch depended on: rows and draws with their coefficients, and the line."""

    rows: dict[int, Any]
    draws: dict[int, Any]
    place: CodeLine
    beside: bool = False
    """Whether the same question depends on noise by itself: a function of noise for which there is
    no rule, perhaps."""


@dataclass
class Coin:
    """A uniform draw compared with an affine function of one row: what it charges to that row."""

    row: int
    draw: int
    charge: float
    place: CodeLine


@dataclass
class Fork:
    """A branch whose two sides may join again: on one raw reward, by itself or against a coin, or
    on a fair coin that nothing else knows of (no row)."""

    row: int | None
    position: int
    start: int
    """Forms before it."""
    end: int
    coins: int
    symbol: int
    """The last symbol before it."""
    draw: int | None = None


@dataclass
class Column:
    """A symbol that a row moves: whose, and by how much at most."""

    owner: int
    reach: Exact = 1
    round: int = 0
    single: bool = True
    """Whether it stands for itself alone, and not also for others that were equal to it."""
    ends: tuple[Exact, Exact] | None = UNIT
    """Where it lies, if that is known."""


@dataclass
class Run:
    """The run under way; `choose` is asked at every branch."""

    files: frozenset[str] = frozenset()
    prefix: tuple[int, ...] = ()
    laws: dict[int, DrawLaw] = field(default_factory=dict)
    columns: dict[int, Column] = field(default_factory=dict)
    next_symbol: int = 0
    first: int = 0
    """Symbols above this one were made in this run."""
    caught: bool = False
    """Whether what is raised now may be caught by the judged code."""
    guarded: bool = False
    apart: bool = True
    """Whether both sides of a comparison are published, and not only their difference."""
    trace: list[tuple[int, int]] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    coins: list[Coin] = field(default_factory=list)
    forks: list[Fork] = field(default_factory=list)
    shadows: dict[int, float] = field(default_factory=dict)
    signs: dict[Any, frozenset[int]] = field(default_factory=dict)
    escaped: Escape | None = None
    whole: bool = False
    """Whether the code is a function of the whole stream."""
    rounded: bool = False
    """Whether rewards have met arithmetic of doubles."""
    drawing: bool = True
    rewards: tuple[Exact, Exact] = UNIT
    """Where every reward lies."""
    replaced: set[int] = field(default_factory=set)
    """Draws that noise made by hand consists of: nothing else may depend on them."""
    decided: list[Any] = field(default_factory=list)
    """What was compared, and the signs that are left of it on this path."""
    filed: int = 0
    """How many of these `signs` contains."""
    differences: list[Any] = field(default_factory=list)
    """In a guarded run: what was compared, as affine forms."""
    tally: DrawTally | None = None
    """What the path has done with its draws in doubles, where that is asked."""
    unmatched: bool = False
    """Whether it has left something that equals nothing else, not even itself in another run."""

    @property
    def between(self) -> str:
        """What lies between two states."""
        return "in a run of the whole stream" if self.whole else "in one round"

    def place(self) -> CodeLine:
        """Return the line of the judged code that is running."""
        frame: Any = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename in self.files:
                return CodeLine(frame.f_code.co_filename, frame.f_lineno)
            frame = frame.f_back
        return NOWHERE

    def escape(self, construct: str, remedy: str = "") -> Escape:
        """Return the escape to raise; the first one is remembered."""
        found = Escape(construct, remedy, self.place())
        if self.escaped is None:
            self.escaped = found
        return found

    def symbol(self) -> int:
        """Return the name of a new symbol."""
        self.next_symbol += 1
        return self.next_symbol

    def branch(self, outcomes: int, real: Callable[[], int] | None = None) -> int:
        """Return which of so many outcomes this run takes."""
        if self.escaped is not None:
            raise self.escaped
        if self.guarded:
            if real is None:
                raise self.escape("a branch whose outcome the guarded run does not know")
            return real()
        position = len(self.trace)
        if position >= MOST_BRANCHES:
            raise self.escape(
                f"more than {MOST_BRANCHES} branches on rewards or noise {self.between}",
                WHOLE if self.whole else "a loop that ends when a noisy value says so has no bound",
            )
        chosen = self.prefix[position] % outcomes if position < len(self.prefix) else 0
        self.trace.append((chosen, outcomes))
        return chosen

    def fork(self, row: int | None, start: int, draw: int | None = None) -> None:
        """Take note of a branch that comes next and may join again; its forms begin at `start`."""
        if self.tally is not None:
            return  # sides that join in real arithmetic may not in doubles
        position, forms, coins = len(self.trace), len(self.forms), len(self.coins)
        self.forks.append(Fork(row, position, start, forms, coins, self.next_symbol, draw))

    def row(self, round: int, shadow: float | None = None) -> int:
        """Return a new reward, of a round (from 0)."""
        name = self.symbol()
        low, high = self.rewards
        self.columns[name] = Column(name, high - low, round, ends=self.rewards)
        if shadow is not None:
            self.shadows[name] = shadow
        return name

    def moved(
        self,
        row: int,
        reach: Exact,
        shadow: float | None,
        ends: tuple[Exact, Exact] | None = None,
    ) -> int:
        """Return a new symbol that a row moves by at most `reach` (a clipped reward)."""
        name = self.symbol()
        known = self.columns[row]
        self.columns[name] = Column(known.owner, reach, known.round, ends=ends)
        if shadow is not None:
            self.shadows[name] = shadow
        return name

    def draw(self, law: DrawLaw, shadow: float | None = None) -> int:
        """Return a new draw."""
        if not self.drawing:
            raise self.escape(
                "a random draw while the file is imported",
                "draw when the policy is built, or later: all runs of a process share this one",
            )
        name = self.symbol()
        self.laws[name] = law
        if shadow is not None:
            self.shadows[name] = shadow
        return name

    def depend(self, forms: Sequence[tuple[dict[int, Any], dict[int, Any]]]) -> None:
        """Record what the path depends on from here on."""
        where = self.place()
        beside = any(draws and not rows for rows, draws in forms)
        for rows, draws in forms:
            self.require_whole(draws)
            if rows or draws:
                self.forms.append(Form(rows, draws, where, beside))

    def require_whole(self, draws: dict[int, Any]) -> None:
        """Raise if a draw is a part of noise made by hand: it is known by more than that noise."""
        if self.replaced and not self.replaced.isdisjoint(draws):
            raise self.escape(
                "a draw that noise was made of by hand, used once more",
                "use rng.laplace, or the draw in the noise alone",
            )

    def agree(self, parts: dict[int, Any], rest: Any, shadow: float) -> None:
        """In a guarded run: raise unless a form has the value that the real program has."""
        total, size = float(rest), abs(float(rest))
        for name, weight in parts.items():
            part = float(weight) * self.shadows[name]
            total, size = total + part, size + abs(part)
        if not math.isclose(total, shadow, rel_tol=RELATIVE, abs_tol=RELATIVE * (1 + size)):
            raise Disagreement(f"{self.place()}: the form gives {total!r}, the program {shadow!r}")


_CURRENT: list[Run] = []


def current() -> Run:
    """Return the run under way."""
    return _CURRENT[-1]


def running() -> bool:
    """Tell whether a run is under way."""
    return bool(_CURRENT)


class active:  # noqa: N801  reads as a statement
    """`with active(run):` makes a run the current one."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __enter__(self) -> Run:
        _CURRENT.append(self.run)
        return self.run

    def __exit__(self, *_: object) -> None:
        _CURRENT.pop()
