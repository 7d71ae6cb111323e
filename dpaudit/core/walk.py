"""The one driver of a declaration's requests, which checks every request against the contract.

A `Place` is where a run stands: the public state, the pull counts and the registers written so far.
An interpreter looks at `place.request`, answers it, and goes on with `place.after(answer)`. Nothing
here knows a reward or a register's value, so the same walk serves one run, every decision path, and
the model checker. What breaks the contract is a `BadDeclaration` in one line:

- `step` returns a `Step` whose request is one of those of `dpaudit.core.algorithm`;
- plays name an arm that exists and a whole number of rounds, at least 1;
- releases read at least one row, all of them played, divide by a positive int or Fraction, and add
  a `Noise`; a randomised response reads one row, and its chances are Fractions in [0, 1];
- decisions are between different arms that exist, each with different registers of its own that
  were written before; a rule is a `Rule`, a width a number of at least 0, for all arms or for each;
  weights are finite ints, floats or Fractions, one for each register that is shown;
- a coin's chances are exact, not negative, and add up to 1; a recommended arm exists;
- `MOST_IDLE` requests without a play are too many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Disclosure,
    Keep,
    Play,
    Register,
    Release,
    Request,
    Respond,
    Rows,
    State,
    Step,
    Stop,
    Toss,
)
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.lattice import Lattice, on_grid
from dpaudit.core.noise import Noise
from dpaudit.core.scores import Rule
from dpaudit.errors import BadDeclaration, Unsupported, is_finite_double, is_positive_double

MOST_IDLE = 2_000
LONGEST = 160  # characters of a state or an error in a message
FOREIGN = (Exception, SystemExit, GeneratorExit)  # what foreign code may raise; Ctrl-C is ours


@dataclass(frozen=True, eq=False)
class Place:
    """Where a run stands, and what the declaration asks for there."""

    algorithm: Algorithm
    state: State
    pulls: tuple[int, ...]
    time: int = 0
    written: frozenset[Register] = frozenset()
    idle: int = 0

    @cached_property
    def step(self) -> Step:
        """The step of this state, once its request keeps the contract."""
        try:
            step = self.algorithm.step(self.state)
        except FOREIGN as error:
            self.breach("step", f"raised {said(error)}")
        if type(step) is not Step:
            self.breach("step", f"returned a {type(step).__name__}, not a Step")
        if not callable(step.then):
            self.breach("step", f"is followed by a {type(step.then).__name__}, not by a function")
        self.require(step.request)
        if self.algorithm.grid is not None:
            step = replace(step, request=self.drawn_on_grid(step.request))
        return step

    def drawn_on_grid(self, request: Request) -> Request:
        """Return what is asked for, with its noise on the lattice of the algorithm's grid, if any.

        Whoever asks a declaration for a release without `step` must come through here.
        """
        grid = self.algorithm.grid
        if isinstance(request, Respond) and grid is not None:
            raise Unsupported("Randomised response has no lattice law; leave out the grid.")
        if grid is None or not isinstance(request, Release | Accumulate):
            return request
        return on_grid(request, grid, self.algorithm.rounding)  # type: ignore[type-var]

    @property
    def request(self) -> Request:
        """What the declaration asks for."""
        return self.step.request

    @cached_property
    def rule(self) -> Rule:
        """The rule of a choice, in doubles."""
        request = self.request
        if not isinstance(request, Choose):
            self.breach("step", f"asks for a {type(request).__name__}, which has no rule")
        try:
            rule = request.rule(FLOAT)
        except FOREIGN as error:
            self.breach("its rule", f"raised {advised(error)}")
        if not isinstance(rule, Rule):
            self.breach("its rule", f"is a {type(rule).__name__}, not a Rule")
        return rule

    @cached_property
    def width(self) -> NDArray[np.float64]:
        """The width of every arm in an elimination, in doubles: below 0 not even the best stays."""
        request = self.request
        if not isinstance(request, Keep):
            self.breach("step", f"asks for a {type(request).__name__}, which has no width")
        arms = len(request.arms)
        try:
            given = np.asarray(request.width(FLOAT), dtype=float)
        except FOREIGN as error:
            self.breach("its width", f"raised {advised(error)}")
        if given.shape not in ((), (arms,)):
            self.breach("its width", f"has the shape {given.shape}, not one number per arm")
        for width in given.flat:
            if not width >= 0:
                self.breach("its width", f"is {width}, which is not at least 0")
        return np.broadcast_to(given, arms)

    def rows(self, horizon: int) -> Rows:
        """Return the rows of a play, as far as the horizon lets it run."""
        request = self.request
        if not isinstance(request, Play):
            self.breach("step", f"asks for a {type(request).__name__}, which is no play")
        first = self.pulls[request.arm]
        return Rows(request.arm, first, first + min(request.rounds, horizon - self.time))

    def after(self, answer: Any = None) -> Place:
        """Return the place that follows an answer: the rows of a play, an arm, the survivors."""
        request, pulls, time = self.request, self.pulls, self.time
        written, idle = self.written, self.idle + 1
        if isinstance(request, Play):
            arm, rounds = request.arm, len(answer)
            pulls, time = (*pulls[:arm], pulls[arm] + rounds, *pulls[arm + 1 :]), time + rounds
            idle = 0
        elif isinstance(request, Disclosure) and request.register not in written:
            written |= {request.register}
        if idle > MOST_IDLE:
            self.breach("step", f"makes no progress: {MOST_IDLE:,} requests without a play")
        try:
            state = self.step.then(answer)
        except FOREIGN as error:
            self.breach("then", f"raised {said(error)}")
        return Place(self.algorithm, state, pulls, time, written, idle)

    def breach(self, part: str, rule: str) -> NoReturn:
        """Raise the `BadDeclaration` of this place."""
        kind = type(self.algorithm).__name__
        raise BadDeclaration(f"{kind} at {shortened(self.state)}: {part} {rule}.")

    def require(self, request: Request) -> None:
        """Raise unless a request keeps the contract."""
        kind = type(request)
        if kind is Play:
            self._require_play(request)  # type: ignore[arg-type]
        elif kind in (Release, Accumulate, Respond):
            self._require_release(request)  # type: ignore[arg-type]
        elif kind in (Choose, Keep):
            self._require_decision(request)  # type: ignore[arg-type]
        elif kind is Toss:
            self._require_coin(request)  # type: ignore[arg-type]
        elif kind is Stop:
            self._require_arm(request.arm, "recommends")  # type: ignore[union-attr]
        else:
            self.breach("step", f"asks for a {kind.__name__}, which is no request of dpaudit.core")

    def _require_play(self, request: Play) -> None:
        self._require_arm(request.arm, "plays")
        if type(request.rounds) is not int or request.rounds < 1:
            shown = shortened(request.rounds)
            self.breach("step", f"plays {shown} rounds; a whole number of at least 1 is due")

    def _require_release(self, request: Disclosure) -> None:
        rows = request.rows
        self._require_register(request.register)
        numbers = (getattr(rows, name, None) for name in ("arm", "first", "stop"))
        if type(rows) is not Rows or any(type(number) is not int for number in numbers):
            self.breach("step", f"releases {shortened(rows)}, not plain Rows of integers")
        self._require_arm(rows.arm, "releases rows of")
        if not 0 <= rows.first <= rows.stop <= self.pulls[rows.arm]:
            self.breach("step", f"releases {rows}, which have not been played (pulls {self.pulls})")
        if rows.first == rows.stop:
            self.breach("step", f"releases no row ({rows})")
        if isinstance(request, Respond):
            self._require_response(request)
            return
        divisor = request.divisor
        if type(divisor) not in (int, Fraction) or not is_positive_double(divisor):
            self.breach("step", f"divides by {shortened(divisor)}, no positive int or Fraction")
        if not isinstance(request.noise, Noise):
            self.breach("step", f"adds a {type(request.noise).__name__}, which is no Noise")
        if isinstance(request.noise, Lattice):
            cells = request.noise.cells(divisor)
            if cells.denominator != 1:
                self.breach("step", f"rounds rewards to {cells} steps, which is no whole number")

    def _require_response(self, request: Respond) -> None:
        if len(request.rows) != 1:
            self.breach("step", f"responds to {len(request.rows)} rows at once")
        for chance in (request.one, request.zero):
            if type(chance) is not Fraction or not 0 <= chance <= 1:
                self.breach(
                    "step", f"responds with a chance of {shortened(chance)}, no Fraction in [0, 1]"
                )

    def _require_decision(self, request: Choose | Keep) -> None:
        arms, groups = request.arms, request.registers
        if type(arms) is not tuple or not arms:
            self.breach("step", f"decides between {shortened(arms)}, not between a tuple of arms")
        for arm in arms:
            self._require_arm(arm, "decides about")
        if len(set(arms)) != len(arms):
            self.breach("step", f"names an arm twice in {arms}")
        if type(groups) is not tuple or any(type(group) is not tuple for group in groups):
            self.breach("step", "shows registers that are not a tuple of tuples")
        if len(groups) != len(arms):
            self.breach("step", f"shows {len(groups)} groups of registers for {len(arms)} arms")
        if not all(groups):
            self.breach("step", "shows no register of an arm")
        for group in groups:
            for register in group:
                self._require_register(register)
                if register not in self.written:
                    shown = shortened(register)
                    self.breach("step", f"reads register {shown}, which was never written")
            if len(set(group)) != len(group):
                self.breach("step", f"shows a register twice in {shortened(group)}")
        if not callable(request.rule if isinstance(request, Choose) else request.width):
            self.breach("step", "decides by something that is not a function of an arithmetic")
        if isinstance(request, Keep) and request.weights is not None:
            self._require_weights(request.weights, groups)

    def _require_weights(self, weights: Any, groups: tuple[tuple[Register, ...], ...]) -> None:
        rows = weights if type(weights) is tuple else ()
        if [type(row) is tuple and len(row) for row in rows] != [len(group) for group in groups]:
            self.breach("step", "weighs registers by no tuple of tuples, one weight for each")
        for weight in chain.from_iterable(rows):
            if type(weight) not in (int, float, Fraction) or not is_finite_double(weight):
                self.breach("step", f"weighs a register by {shortened(weight)}, no finite number")

    def _require_coin(self, request: Toss) -> None:
        chances = request.chances
        if type(chances) is not tuple or any(type(it) not in (int, Fraction) for it in chances):
            shown = shortened(chances)
            self.breach("step", f"tosses a coin of chances {shown}, no tuple of ints and Fractions")
        if any(it < 0 for it in chances) or sum(chances) != 1:
            shown = ", ".join(map(str, chances))
            self.breach(
                "step",
                f"tosses a coin of chances ({shortened(shown)[1:-1]}) "
                "that are negative or do not add up to 1",
            )

    def _require_arm(self, arm: Any, does: str) -> None:
        if type(arm) is not int or not 0 <= arm < self.algorithm.arms:
            self.breach("step", f"{does} arm {shortened(arm)} of {self.algorithm.arms}")

    def _require_register(self, register: Any) -> None:
        try:
            hash(register)
        except FOREIGN as error:
            self.breach("step", f"names a register that cannot be one ({said(error)})")


def begin(algorithm: Algorithm) -> Place:
    """Return where every run begins."""
    pulls = (0,) * algorithm.arms
    try:
        state = algorithm.start()
    except FOREIGN as error:
        Place(algorithm, None, pulls).breach("start", f"raised {said(error)}")
    return Place(algorithm, state, pulls)


def outcomes(request: Choose | Keep | Toss) -> Iterator[Any]:
    """Return every answer there can be: each arm, each non-empty set of survivors, each side."""
    if isinstance(request, Choose):
        yield from request.arms
    elif isinstance(request, Toss):
        yield from (side for side, chance in enumerate(request.chances) if chance)
    else:
        sizes = range(1, len(request.arms) + 1)
        yield from chain.from_iterable(combinations(request.arms, size) for size in sizes)


def shortened(value: Any) -> str:
    """Return a foreign value in one short line, whatever its own text does."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def advised(error: BaseException) -> str:
    """Return an error of a formula, with what helps where it takes arrays for numbers."""
    kind, text = type(error), str(error)
    if kind is ValueError and "truth value of an array" in text:
        helps = "m.maximum compares them, one by one"
    elif kind is TypeError and "converted to Python scalars" in text:
        helps = "m.log, m.sqrt and m.exp take them, the functions of math do not"
    else:
        return said(error).rstrip(".")
    return f"{said(error).rstrip('.')}. What a formula is given may be arrays; {helps}"


def said(error: BaseException) -> str:
    """Return an error of foreign code in one short line."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."
