"""What the independence of runs rests on, and the check of it for code that is not dpaudit's own.

Every count that an audit concludes from is one of independent runs. A declaration of dpaudit's own
gives them by construction. Foreign code may keep something between runs (a counter, a cache, a draw
for all of a process) or depend on more than its seed (a clock, `hash`, entropy of its own). So
some runs are made again, each alone in a process that has run nothing before: before any evidence
counts, at the end, and of the very runs that a refutation rests on. A run that comes
out the same there is a function of its stream and its seed, and seeds are independent; a target
with a run that does not is refused. What cannot be made again refutes nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import DpauditError
from dpaudit.sample.block import SHOWN, Block
from dpaudit.sample.boxes import Box, DeclaredBox, FileBuilder, PolicyBox
from dpaudit.sample.fresh import ALONE, Helper, Unsendable, made, packed
from dpaudit.sample.guard import PolicyError, judged
from dpaudit.sample.rounds import Slot, mark_of, run_rounds, seed_of
from dpaudit.sample.streams import Pair
from dpaudit.sources import CORE, is_installed
from dpaudit.target import parse

EARLY = 8  # rounds that are made again before evidence counts
SPREAD = 32  # runs of an audit that refutes nothing
DECISIVE = 512  # runs that a refutation rests on
HALVES = 8  # halves of blocks, for a declaration in a file
AT_ONCE = 32
STARTING = 60.0  # seconds, for Python, dpaudit and the target's imports
PATIENCE = 1.0  # seconds after the deadline
OWN = __name__.partition(".")[0]


class NotIndependent(PolicyError):
    """A target that does not repeat itself."""


@dataclass(frozen=True)
class Kept:
    """A run of the audit that can be made again: its digest, and its actions if they are few."""

    slot: Slot
    mark: str
    actions: NDArray[np.int64] | None = None


def is_foreign(box: Box) -> bool:
    """Tell whether a box runs code that is not dpaudit's own."""
    if isinstance(box, DeclaredBox):
        return type(box.algorithm).__module__.partition(".")[0] != OWN
    if isinstance(box, PolicyBox):
        build = box.build
        return not (isinstance(build, FileBuilder) and build.is_below(CORE))
    return False  # a box of the caller's own keeps the promise of `Box`


@dataclass(frozen=True)
class Again:
    """A run that was made again: its digest and its first actions (none where they are many)."""

    mark: str
    actions: NDArray[np.int64]


def again(sent: bytes, seed: int, slot: Slot) -> Again:
    """Make a run of a box again, in a process that has run nothing before."""
    box = made(sent)
    if isinstance(box, DpauditError):
        raise box
    with judged(str(getattr(box, "name", type(box).__name__))):
        runs = slot.again(box, seed)
    shown = runs.actions(0, SHOWN) if len(runs) == 1 else np.zeros(0, dtype=np.int64)
    return Again(mark_of(runs), shown)


def packages(sent: bytes, seed: int, slot: Slot) -> list[str]:
    """Return the modules of Python, of installed packages and of dpaudit that a run imports."""
    before = set(sys.modules)
    again(sent, seed, slot)
    files = {
        name: getattr(module, "__file__", None)
        for name, module in sys.modules.items()
        if name not in before
    }
    return [
        name
        for name, file in files.items()
        if file and (name.partition(".")[0] == OWN or is_installed(Path(file)))
    ]


def bring(names: list[str], file: str) -> None:
    """Import modules, and parse the target's file, so that children need not."""
    for name in names:
        with contextlib.suppress(Exception, SystemExit):
            importlib.import_module(name)
    if file:
        parse(Path(file))


def _file(box: Box) -> str:
    build = getattr(box, "build", None)
    return build.path if isinstance(build, FileBuilder) else ""


def _found(box: Box) -> Box:
    """Import the target of a box that has arrived."""
    if isinstance(box, PolicyBox) and isinstance(box.build, FileBuilder):
        try:
            box.build.load()
        except DpauditError as error:
            raise Unsendable(f"another process cannot load it: {error}") from None
    return box


class Independence:
    """Keeps runs of an audit and makes some of them again; raises `NotIndependent`."""

    def __init__(self, box: Box, seed: int, deadline: float | None = None) -> None:
        self.box = box
        self.name = str(getattr(box, "name", None) or box.identity().get("policy", "the box"))
        self.seed = seed
        self.deadline = deadline
        self.kept: dict[Pair, list[Kept]] = {}
        self.repeated = 0
        self.unable = ""
        self.helper = Helper([__name__])
        self.foreign = is_foreign(box)
        self.sent = b""
        self.prepared = False
        if self.foreign:
            try:
                # now: what travels by value must not carry the runs of this audit with it
                self.sent = packed(_found, box)
            except Unsendable as error:
                self.unable = str(error)

    def begin(self, pair: Pair) -> None:
        """Make a few runs and make them again, before any run counts."""
        if not isinstance(self.box, PolicyBox):
            return
        key = (3,)
        both = run_rounds(self.box, pair, EARLY, self.seed, key)
        first = [
            Kept(Slot.of(pair, key, EARLY, n, s), mark_of(both[s].only(n)), both[s].actions(n))
            for n in range(EARLY)
            for s in (0, 1)
        ]
        self._repeat(first)

    def keep(self, pair: Pair, key: tuple[int, ...], rounds: int, found: Block) -> None:
        """Keep the marked runs of a block of fresh runs."""
        if not self.sent:
            return
        for number, *marks in found.marks:
            for side, mark in enumerate(marks):
                slot = Slot.of(pair, key, rounds, number, side)
                actions = found.shown.get((number, side))
                self.kept.setdefault(pair, []).append(Kept(slot, mark, actions))

    def end(self) -> None:
        """Make some of the runs again, from all blocks."""
        kept = [it for some in self.kept.values() for it in some]
        self._repeat(self._some(kept, SPREAD if isinstance(self.box, PolicyBox) else HALVES))

    def confirm(self, pairs: Sequence[Pair]) -> str:
        """Make runs again that speak against the claim, of each pair and of the first ones most.

        Return why that was not possible.
        """
        left = DECISIVE if isinstance(self.box, PolicyBox) else HALVES
        chosen: list[Kept] = []
        for number, pair in enumerate(pairs):
            share = left // 2 if number + 1 < len(pairs) else left
            some = self._some(self.kept.get(pair, []), max(share, 1))
            chosen += some
            left = max(left - len(some), 0)
        return self.shown(chosen)

    def shown(self, kept: list[Kept]) -> str:
        """Make runs of foreign code again; return why that was not possible, or nothing."""
        if not self.foreign or self._repeat(kept) == len(kept) and not self.unable:
            return ""
        return self.unable or "the time was over before they could be made again"

    def _some(self, kept: list[Kept], most: int) -> list[Kept]:
        order = np.random.default_rng(seed_of(self.seed, 8)).permutation(len(kept))
        return [kept[number] for number in order[:most]]

    def _repeat(self, kept: list[Kept]) -> int:
        """Make runs again until the time is over, and return how many were the same."""
        done = 0
        seconds = STARTING + AT_ONCE * float(getattr(self.box, "limit", STARTING))
        while self.sent and done < len(kept) and not self._late:
            wave = kept[done : done + AT_ONCE]
            calls = [packed(again, self.sent, self.seed, it.slot) for it in wave]
            try:
                if not self.prepared:
                    first = packed(packages, self.sent, self.seed, wave[0].slot)
                    [names] = self.helper.alone([first], seconds)
                    self.helper.here(packed(bring, names, _file(self.box)), seconds)
                    self.prepared = True
                made = self.helper.alone(calls, seconds)
            except Unsendable as error:
                self.unable, self.sent = str(error), b""
                break
            except PolicyError as error:
                what = f"a run made again alone failed: {error}"
                raise NotIndependent(f"{self.name} does not repeat itself: {what}") from None
            for before, after in zip(wave, made, strict=True):
                if before.mark != after.mark:
                    raise NotIndependent(self._said(before, after))
            done += len(wave)
            self.repeated += len(wave)
        return done

    @property
    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline + PATIENCE

    def _said(self, before: Kept, after: Again) -> str:
        what = "came out differently"
        if before.actions is not None and len(after.actions):
            steps = np.flatnonzero(before.actions[: len(after.actions)] != after.actions)
            if len(steps):
                step = int(steps[0])
                was, now = int(before.actions[step]), int(after.actions[step])
                what = (
                    f"played arm {was} in round {step + 1:,}, and arm {now} when made again alone"
                )
        return (
            f"{self.name} does not repeat itself: {before.slot.name} {what}. Its runs are not "
            "independent; let it draw from `rng` alone and keep nothing between runs."
        )

    @property
    def words(self) -> str:
        """What the independence of the runs rests on."""
        if isinstance(self.box, PolicyBox):
            order = "stream and neighbour ran in random order, run by run"
        elif isinstance(self.box, DeclaredBox):
            order = "a declaration keeps nothing between runs, and every block has its own seed"
        else:
            return "the box promises runs that depend on their seeds alone"
        return self.resting_on(order)

    def resting_on(self, order: str) -> str:
        """Return what the runs rest on, beside their order: those that came out the same again."""
        if self.unable:
            return f"{order}; no run was made again: {self.unable}"
        if not self.repeated:
            return order
        where = "alone in a process that had run nothing" if ALONE else "in another process"
        return f"{order}; {self.repeated} runs, made again {where}, came out the same"

    def close(self) -> None:
        """End the second process."""
        self.helper.close()
