"""The `code` check: prove that the user's own code respects epsilon, or say where it stops.

PROVED means: in real arithmetic, for rewards in [0, 1] and this number of arms, no action
sequence of
up to so many rounds changes its likelihood by more than e^epsilon when one reward changes. A charge
that is too large is a diagnosis and a lead for the sampler, never a refutation.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import os
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit.checks import place_of
from dpaudit.deadline import Expired, Work
from dpaudit.errors import DpauditError
from dpaudit.sample.boxes import accepted
from dpaudit.sample.guard import lent_randomness
from dpaudit.sources import CORE
from dpaudit.structure.program import TAU, with_boundaries
from dpaudit.symbolic.alike import Unlike
from dpaudit.symbolic.certificate import MoveRecorder
from dpaudit.symbolic.doubles import Found
from dpaudit.symbolic.guard import Misread, Unreached, real_object, side_by_side
from dpaudit.symbolic.ledger import Failure
from dpaudit.symbolic.run import LATTICE, UNIT, WHOLE, CodeLine, Escape, Exact
from dpaudit.symbolic.subject import CodeTarget, subject_of
from dpaudit.symbolic.walk import SymbolicWalk, WalkOutcome
from dpaudit.target import said
from dpaudit.verdict import ANY_REWARDS, Finding, Program, Status

NUMBERS = "in real arithmetic, for rewards in [0, 1]"
WIDE = -(10**9), 10**9  # where the rewards of the question lie
WALKED = 0.8  # of the budget; the rest is for what is done side by side
ULPS = Fraction(8, 2**52)  # some operations on doubles
PATIENCE = 5.0  # seconds for the question, at most
CHOICE = "choice"
PRODUCT = Fraction(1, 2**54)  # what one more rounding of a draw, of 2^-53 of it, moves at most
NUMPY = "numpy's 53-bit uniforms are independent, its log is within 1 ulp, doubles round to nearest"
FAR = 1000  # times the budget, which nobody spends
LATE = "the time for it is over"
UNREAD = (
    "and no reward is charged too much. The budget ended before real runs had shown that they "
    "were read aright"
)
REMEDY = "dpaudit.noise's noisy_sum would be covered"


@dataclass(frozen=True)
class FailingPath:
    """What a failed proof points at: the round of a reward, one path to the failing decision."""

    failure: Failure
    path: tuple[int, ...]


@dataclass(frozen=True)
class Proved:
    """The finding, and a lead where a charge is too large."""

    finding: Finding
    lead: FailingPath | None = None
    line: int | None = None
    certificate: Callable[[], dict[str, Any]] | None = None
    """What was proved as data, if it was asked for: it takes a while to write."""


def digest(path: Path) -> str:
    """Return the digest of a file's text."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def _raised_at(error: BaseException) -> tuple[CodeLine | None, str]:
    """Return the line of judged code that was running, if any, and the reader's file it called."""
    here, place, called = Path(__file__).parents[1], None, ""
    for it in traceback.extract_tb(error.__traceback__):
        path = Path(it.filename)
        if here in path.parents and CORE not in path.parents:
            called = path.name
        elif "-packages" not in it.filename and it.filename[:1] != "<":
            place, called = CodeLine(it.filename, it.lineno or 0), ""
    return place, called


def prove(
    target: CodeTarget,
    budget: float,
    recorder: MoveRecorder | None = None,
    far: Callable[[int], Any] = lambda at: None,
) -> Proved:
    """Return what the code check concludes of an instance; a recorder gets what was proved.

    `far` is told how many rounds have been followed.
    """
    clock = Work()
    arms, epsilon = target.arms, target.epsilon

    def silent(reason: str, lead: FailingPath | None = None, line: int | None = None) -> Proved:
        finding = Finding("code", Status.SILENT, reason, arms=arms, seconds=clock.elapsed)
        return Proved(finding, lead, line)

    if not target.readable:
        return silent(f"{target.text} is not file.py:object, so its code was not read.")
    path, found, compared = target.path, WalkOutcome(0), 0
    try:
        found = walked(target, WALKED * budget, clock, recorder, far=far)
        if found.failure is None and found.horizon > 0:
            left = partial(clock.before, budget)
            compared = side_by_side(target, found.reached, found.horizon, left)
    except Escape as stop:
        return silent(f"Not followed: {stop}.", line=_line(stop.place, path))
    except Expired:
        if not found.horizon:
            raise
        return silent(f"{found.horizon:,} rounds were followed, {UNREAD}.")
    except Exception as error:
        return silent(_stopped(target, error))
    if found.failure is not None:
        reason = f"Not proved: {found.failure}. The charge so far is no violation by itself."
        lead = FailingPath(found.failure, found.path)
        return silent(reason, lead, _line(found.failure.place, path))
    if found.horizon < 1:
        if found.whole:
            return silent(f"The budget ended after {found.stretches:,} paths: {WHOLE}.")
        return silent("The budget ended before the first round was covered.")
    clipped = clipping(target, found, clock, budget)
    program, rounding = _program(target, found, clock, budget)
    finding = Finding(
        "code",
        Status.PROVED,
        _reason(target, found, compared, clipped),
        epsilon_upper=_upper(found.charge, epsilon),
        certified=True,
        arms=arms,
        horizon=found.horizon,
        streams=ANY_REWARDS if clipped >= found.horizon else "all streams of rewards in [0, 1]",
        seconds=clock.elapsed,
        program=program,
        rounding=rounding,
    )
    document = None if recorder is None else partial(_document, target, recorder, found)
    return Proved(finding, certificate=document)


def _stopped(target: CodeTarget, error: Exception) -> str:
    """Return why an error has ended a walk or a comparison; raise one that says so by itself."""
    if isinstance(error, Misread):
        return str(error)
    if isinstance(error, Unlike):
        return f"TARGET={target.text} was misread: {error}; please report it."
    if isinstance(error, Unreached):
        return f"Not compared: {error}."
    if isinstance(error, DpauditError):
        raise error
    place, called = _raised_at(error)
    if place is not None and called:  # what a stand-in raises, the real function may not
        return f"Not followed: {place}: on symbols it raises {said(error)}."
    told = f"{said(error)}{place_of(error)}"
    calling = isinstance(error, TypeError) and called == "drivers.py"
    if place is None and not calling:
        return f"The reader itself failed: {told}; please report it."
    return f"Some path ends in {told}."


def _document(target: CodeTarget, recorder: MoveRecorder, found: WalkOutcome) -> dict[str, Any]:
    """Return the certificate of a proof, with the digests of the files that it rests on."""
    path = target.path
    others = sorted(Path(it) for it in found.files if Path(it) != path)
    beside = {os.path.relpath(it, path.parent): digest(it) for it in others}
    epsilon = str(Fraction(target.epsilon))
    claim = {"arms": target.arms, "epsilon": epsilon, "sha256": digest(path)}
    return recorder.document(target.text, claim | ({"beside": beside} if beside else {}), found)


def _reason(target: CodeTarget, found: WalkOutcome, compared: int, clipped: int) -> str:
    """Return what was found, as sentences."""
    lines = ", ".join(sorted(str(place) for place in found.releases if place.line))
    noise = f"({found.stretches:,} stretches of paths; noise drawn at {lines or 'no line'})"
    said = [f"No reward is charged more than {float(found.charge):.12g} on any path {noise}"]
    if not found.charge:
        said = [f"No decision depends on a reward, on any path {noise}"]
    said[0] += f", {NUMBERS}."
    above = found.charge - Fraction(target.epsilon)
    if above > 0:
        said.append(f"{float(above):.1e} above epsilon counts as rounding of public numbers.")
    if others := overruled(target):
        said.append(f"Built with {', '.join(others)}.")
    said.append(f"The code and its reading on symbols agreed in {compared:,} rounds.")
    if clipped:
        said.append(f"Rewards of up to 1e9 in size cost no more (asked up to round {clipped:,}).")
    if found.horizon < target.horizon:
        said.append(f"The budget ended at round {found.horizon:,} of {target.horizon:,}.")
        said.append(_farther(found, target.horizon))
    return " ".join(said)


def _farther(found: WalkOutcome, horizon: int) -> str:
    """Return which budget may reach a horizon, by the pace at which rounds were followed so far."""
    (begun, start), (at, end) = found.pace[0], found.pace[-1]
    half, middle = max(it for it in found.pace if 2 * it[0] <= at)
    if begun == half or not start < middle < end:
        return "A larger budget (--budget) gets farther."
    power = math.log((end - start) / (middle - start)) / math.log(at / half)
    times = (horizon / at) ** power
    if times > FAR:
        rest = f"The rest takes more than {FAR:,} times as long"
        return f"{rest}: claim fewer rounds (--horizon), or decide less often."
    about = f"{float(f'{max(times, 1.1):.2g}'):g}"
    return f"By its pace, a budget (--budget) {about} times as large may reach them all."


def overruled(target: CodeTarget) -> list[str]:
    """Return the arguments that the policy was built with in place of its own defaults."""
    with lent_randomness(0):
        source = real_object(target)
    given = accepted(source)
    if given is None:
        return []
    own = {it.name: it.default for it in inspect.signature(source).parameters.values()}
    asked = {"arms": target.arms, "horizon": target.horizon, "epsilon": target.epsilon}
    numbers = [(name, it) for name, it in own.items() if isinstance(it, int | float)]
    return [
        f"{name}={asked[given[name]]:g} (its default is {default:g})"
        for name, default in numbers
        if given.get(name) in asked and asked[given[name]] != default
    ]


def _program(
    target: CodeTarget, found: WalkOutcome, clock: Work, end: float
) -> tuple[Program | None, str]:
    """Return what is proved of the code with its rounding, or why nothing is.

    Where its noise is on a lattice every reward becomes public through integers alone, and doubles
    meet what is public. Where it is numpy's, the code is walked again with its doubles.
    """
    if not found.kinds - {LATTICE, CHOICE}:
        if LATTICE not in found.kinds:
            return None, ""
        if found.rounded:
            why = "it calculates with rewards in doubles, and not on the grid alone"
            return None, f"nothing is proved of the code, because {why}."
        bits = "the operating system's bits are independent and unbiased"
        name = "this code, whose noise is dpaudit.noise's, drawn and added in integers"
        return Program(name, _upper(found.charge, target.epsilon), 0.0, bits), ""
    now = clock()
    limit = max(now + 0.1, min(4 * now, end))
    return in_doubles(target, limit, clock, found.horizon)


def in_doubles(
    target: CodeTarget,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
    rounds: int | None = None,
) -> tuple[Program | None, str]:
    """Return what is proved of code that is proved and draws numpy's noise, or why nothing is.

    The rounds may be fewer than the policy is built for.
    """
    largest = Found()
    epsilon = Fraction(target.epsilon)
    try:
        subject = subject_of(target)
        if subject.compiled:
            raise Escape("numba compiles it, whose sums and noise are its own")
        last = rounds or target.horizon
        walk = SymbolicWalk(subject, last, epsilon, deadline, clock=clock, doubles=largest)
        found = walk.explore()
        why = LATE if found.horizon < 1 else ""
        if found.failure is not None:
            why = f"{found.failure.place}: only differences of indices are hidden"
    except Expired:  # what is proved in real arithmetic stands
        why = LATE
    except (Escape, Exception) as stop:
        why = str(stop)
    if not why:
        cost = largest.compared * (TAU + largest.products * PRODUCT)
        program = with_boundaries("this code", found.horizon, largest.shift, cost, NUMPY)
        if program is not None:
            return program, ""
        why = "its delta would be 1"
    return None, f"nothing is proved of the code, because {why.rstrip('.')}; {REMEDY}."


def clipping(target: CodeTarget, found: WalkOutcome, clock: Work, end: float) -> int:
    """Return up to which round the bound stands for rewards of up to 1e9 too; 0 if it does not.

    The same walk is made with rewards in that interval: what is released of them is charged no more
    only where the code clips them.
    """
    now = clock()
    try:
        limit = min(now + max(1.0, min(PATIENCE, now)), end)
        wide = walked(target, limit, clock, rewards=WIDE, rounds=found.horizon)
    except (Escape, Exception, Expired):  # code that raises on such a reward does not clip it
        return 0
    same = wide.failure is None and 0 < wide.charge <= found.charge
    return wide.horizon if same else 0


def walked(
    target: CodeTarget,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
    recorder: MoveRecorder | None = None,
    rewards: tuple[Exact, Exact] = UNIT,
    far: Callable[[int], Any] = lambda at: None,
    rounds: int | None = None,
) -> WalkOutcome:
    """Walk with both sides of each comparison published; where that fails, with differences."""
    first = WalkOutcome(0)
    for apart in (True, False):
        if recorder is not None:
            recorder.clear()
        epsilon = Fraction(target.epsilon)
        subject = subject_of(target)
        walk = SymbolicWalk(
            subject,
            rounds or target.horizon,
            epsilon,
            deadline,
            apart,
            heard=recorder,
            rewards=rewards,
            clock=clock,
            far=far,
        )
        try:
            found = walk.explore()
        except Escape:
            if not walk.found.joined:
                raise
            found = replace(walk, joining=False, heard=None).explore()
            if found.failure is None:
                raise
        if found.failure is None:
            return found
        first = found if first.failure is None else first
    assert first.failure is not None and found.failure is not None
    return found if found.failure.charge < first.failure.charge else first


def _upper(charge: Fraction, epsilon: float) -> float:
    """Return the charge, rounded up; epsilon where a few roundings of a scale are between."""
    if abs(charge - Fraction(epsilon)) <= Fraction(epsilon) * ULPS:
        return epsilon
    upper = float(charge)
    return upper if Fraction(upper) >= charge else math.nextafter(upper, math.inf)


def _line(place: CodeLine, path: Path) -> int | None:
    """Return a line of the target's own file, for annotations."""
    return place.line if place.line and Path(place.file).name == path.name else None
