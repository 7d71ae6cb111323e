"""The Markov chain of a sampler, read off its code and solved exactly.

A sampler is run with a source of randomness that follows a script. Where the script ends, the
state is the chain of the sampler's frames, with their positions and those local variables that may
still be read: all that a pure function depends on. Every outcome of the draw there is followed, to
a value or to a state; equal states are one. Weights are sums of c e^-g with rational c and g, kept
as {g: c}: for rational g these exponentials are linearly independent over the rationals (Lindemann
and Weierstrass), so an identity of such sums is one of their terms.
"""

from __future__ import annotations

import dis
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from types import CodeType
from typing import Any

Weight = dict[Fraction, Fraction]


def weight(value: Any = 1, exponent: Any = 0) -> Weight:
    """Return value e^-exponent."""
    return {Fraction(exponent): Fraction(value)}


def plus(one: Weight, two: Weight, sign: int = 1) -> Weight:
    total: defaultdict[Fraction, Fraction] = defaultdict(Fraction, one)
    for exponent, value in two.items():
        total[exponent] += sign * value
    return {exponent: value for exponent, value in total.items() if value}


def times(one: Weight, two: Weight) -> Weight:
    total: defaultdict[Fraction, Fraction] = defaultdict(Fraction)
    for a, x in one.items():
        for b, y in two.items():
            total[a + b] += x * y
    return {exponent: value for exponent, value in total.items() if value}


def minus(one: Weight, two: Weight) -> Weight:
    return plus(one, two, -1)


BEYOND = "beyond"
LEAVING = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
ALWAYS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE")


@lru_cache
def live(code: CodeType) -> dict[int, frozenset[str]]:
    """Return, by position, the local variables that may be read after it before they are set."""
    steps = list(dis.get_instructions(code))
    number = {step.offset: i for i, step in enumerate(steps)}

    def touched(step: dis.Instruction) -> list[tuple[str, str]]:
        """Return (LOAD or STORE, name) of a step in order; later Pythons fuse two of them."""
        if "_FAST" not in step.opname:
            return []
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        kinds = [word for word in step.opname.split("_") if word in ("LOAD", "STORE", "DELETE")]
        assert len(kinds) == len(names), step
        return list(zip(kinds, names, strict=True))

    before: list[frozenset[str]] = [frozenset()] * len(steps)
    after = list(before)
    changed = True
    while changed:
        changed = False
        for i in reversed(range(len(steps))):
            step, following = steps[i], []
            if step.opname not in (*LEAVING, *ALWAYS) and i + 1 < len(steps):
                following.append(i + 1)
            if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
                following.append(number[step.argval])
            after[i] = frozenset().union(*(before[j] for j in following))
            held = after[i]
            for kind, name in reversed(touched(step)):
                held = held | {name} if kind == "LOAD" else held - {name}
            changed |= held != before[i]
            before[i] = held
    return {step.offset: after[i] for i, step in enumerate(steps)}


class Asked(Exception):
    """The script has ended: this state, and the outcomes of its draw with their weights."""


@dataclass
class Source:
    """Answers draws by a script; `own` is the file whose frames make up the state."""

    own: str
    beyond: Callable[[dict[str, Any]], bool]
    script: Sequence[Any] = ()
    place: int = 0

    def draw(self, name: str, outcomes: list[tuple[Any, Weight]]) -> Any:
        if self.place < len(self.script):
            self.place += 1
            return self.script[self.place - 1]
        frames: list[Hashable] = [name]
        frame, cut = sys._getframe(1), False
        while frame is not None:
            if frame.f_code.co_filename == self.own:
                positions = live(frame.f_code)  # a call ends some words after its instruction
                wanted = positions[max(at for at in positions if at <= frame.f_lasti)]
                held = {k: v for k, v in frame.f_locals.items() if k in wanted and not callable(v)}
                shown = tuple(sorted((name, repr(value)) for name, value in held.items()))
                frames.append((frame.f_code.co_name, frame.f_lasti, shown))
                cut = cut or self.beyond(held)
            frame = frame.f_back  # type: ignore[assignment]
        raise Asked(BEYOND if cut else tuple(frames), outcomes)

    def bits(self, size: int) -> int:
        if size < 0:
            raise ValueError("a negative number of bits")
        share = weight(Fraction(1, 2**size))
        return int(self.draw("bits", [(value, share) for value in range(2**size)]))

    def below(self, bound: int, bits: Any) -> int:
        share = weight(Fraction(1, bound))
        return int(self.draw("below", [(value, share) for value in range(bound)]))

    def decays(self, numerator: int, denominator: int, bits: Any) -> bool:
        yes = weight(1, Fraction(numerator, denominator))
        return bool(self.draw("decays", [(True, yes), (False, minus(weight(), yes))]))


@dataclass
class Chain:
    """States and where their draws lead: (weight, "value" or "state", which)."""

    start: Hashable
    moves: dict[Hashable, list[tuple[Weight, str, Hashable]]] = field(default_factory=dict)

    def solve(self) -> tuple[dict[Any, Weight], Weight]:
        """Return the weight of every value before a return to the start, and that of a return.

        The probability of a value is the first over one minus the second. Raise unless every cycle
        passes the start.
        """
        order: list[Hashable] = []
        visiting: set[Hashable] = set()

        def visit(state: Hashable) -> None:
            assert state not in visiting, "a cycle that does not pass the start"
            if state in done or state == BEYOND:
                return
            visiting.add(state)
            for _, kind, after in self.moves[state]:
                if kind == "state" and after != self.start:
                    visit(after)
            visiting.discard(state)
            done.add(state)
            order.append(state)

        done: set[Hashable] = set()
        visit(self.start)
        reach: defaultdict[Hashable, Weight] = defaultdict(dict)
        reach[self.start] = weight()
        values: defaultdict[Any, Weight] = defaultdict(dict)
        returned: Weight = {}
        for state in reversed(order):
            for chance, kind, after in self.moves[state]:
                mass = times(reach[state], chance)
                if kind == "value":
                    values[after] = plus(values[after], mass)
                elif after == self.start:
                    returned = plus(returned, mass)
                else:
                    reach[after] = plus(reach[after], mass)
        return dict(values), returned


def chain_of(
    run: Callable[[Source], Any],
    own: str,
    beyond: Callable[[dict[str, Any]], bool] = lambda held: False,
) -> Chain:
    """Return the chain of a sampler; states whose variables are `beyond` are not followed."""

    def follow(script: tuple[Any, ...]) -> tuple[str, Any, list[tuple[Any, Weight]]]:
        try:
            return "value", run(Source(own, beyond, script)), []
        except Asked as asked:
            return "state", *asked.args  # type: ignore[return-value]

    _, start, outcomes = follow(())
    found = Chain(start)
    pending = [(start, (), outcomes)]
    while pending:
        state, script, outcomes = pending.pop()
        if state in found.moves:
            continue
        found.moves[state] = []
        for outcome, chance in outcomes:
            kind, after, further = follow((*script, outcome))
            found.moves[state].append((chance, kind, after))
            if kind == "state" and after != BEYOND and after not in found.moves:
                pending.append((after, (*script, outcome), further))
    return found
