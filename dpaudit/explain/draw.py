"""A recorded run as text: the picture of the plays, the decisions, the charge of each row.

The picture is Figure 1 of Azize and Basu (2022) for any declaration: one line per arm, one box per
play, a bar before every play that follows a decision or a coin. Every line fits into the width.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from dpaudit.core.algorithm import Respond
from dpaudit.core.noise import Laplace, Noise, NoNoise
from dpaudit.core.notions import Notion
from dpaudit.explain.record import (
    Event,
    RecordedDecision,
    RecordedPlay,
    RecordedRelease,
    RecordedToss,
    Spans,
    Stopped,
)
from dpaudit.structure.ledger import Charge, show

MOST_BOXES = 24
MOST_DECISIONS = 12
BAR = 24
MOST_LISTED = 8


def rewards(spans: Spans) -> str:
    """Return rounds as the names of their rewards: `r4 r5`, `r1, r3`, `r7..r10`."""
    parts = []
    for span in spans:
        if len(span) <= 2:
            parts.append(" ".join(f"r{t}" for t in span))
        else:
            parts.append(f"r{span[0]}..r{span[-1]}")
    if len(parts) > 4:
        parts = [*parts[:2], "...", parts[-1]]
    return ", ".join(parts) or "nothing"


def picture(events: Sequence[Event], arms: int, width: int) -> Iterator[str]:
    """Yield the plays over time, in as many strips as the width needs."""
    boxes: list[tuple[RecordedPlay, bool]] = []
    decided = False
    for event in events:
        if isinstance(event, RecordedDecision | RecordedToss):
            decided = True
        elif isinstance(event, RecordedPlay):
            boxes.append((event, decided))
            decided = False
    shown, left = boxes[:MOST_BOXES], boxes[MOST_BOXES:]
    margin = len(f"arm {arms - 1}") + 4
    strips: list[list[tuple[RecordedPlay, bool]]] = [[]]
    used = margin
    for box in shown:
        size = _size(box)
        if used + size > width - 1 and strips[-1]:
            strips.append([])
            used = margin
        strips[-1].append(box)
        used += size
    for strip in strips:
        yield from _strip(strip, arms, margin)
        yield ""
    if left:
        yield f"  ... and {len(left):,} more plays."
        yield ""


def _label(play: RecordedPlay) -> str:
    return f"[{rewards((play.rounds,))}]"


def _size(box: tuple[RecordedPlay, bool]) -> int:
    play, decided = box
    return max(len(_label(play)), len(f"t={play.rounds[0]}")) + 1 + decided


def _strip(strip: Sequence[tuple[RecordedPlay, bool]], arms: int, margin: int) -> Iterator[str]:
    head, lines = " " * margin, [f"  arm {arm}".ljust(margin) for arm in range(arms)]
    for box in strip:
        play, decided = box
        size = _size(box) - decided
        head += (f"|t={play.rounds[0]}" if decided else "").ljust(size + decided)
        bar = "|" if decided else ""
        for arm in range(arms):
            lines[arm] += bar + (_label(play) if arm == play.arm else "").ljust(size)
    yield head.rstrip()
    yield from (line.rstrip() for line in lines)


def story(events: Sequence[Event], width: int) -> Iterator[str]:
    """Yield what happened, decision by decision."""
    decisions = 0
    total = sum(isinstance(event, RecordedDecision) for event in events)
    for event in events:
        if isinstance(event, RecordedDecision):
            decisions += 1
            if decisions > MOST_DECISIONS:
                yield f"... and {total - MOST_DECISIONS:,} more decisions."
                return
            yield ""
            yield from _decision(event, width)
        elif isinstance(event, RecordedPlay):
            yield from paragraph(_play(event), width, "  ", "    ")
        elif isinstance(event, Stopped):
            yield ""
            yield f"t = {event.time}: the run stops and recommends arm {event.arm}."
        elif isinstance(event, RecordedToss):
            yield ""
            yield from paragraph(_coin(event), width, rest="  ")
        else:
            yield from paragraph(_release(event), width, "  ", "    ")


def _play(play: RecordedPlay) -> str:
    rounds = f"{play.wanted:,} round{'s' * (play.wanted != 1)}"
    text = f"plays arm {play.arm} for {rounds}: {rewards((play.rounds,))}"
    return text if len(play.rounds) == play.wanted else f"{text}, where the run ends"


def _coin(event: RecordedToss) -> str:
    chance = event.chances[event.side]
    return (
        f"t = {event.time}: a public coin with {len(event.chances)} sides comes up {event.side} "
        f"(chance {show(chance)}), whatever the rewards."
    )


def _release(event: RecordedRelease) -> str:
    if isinstance(event.noise, Respond):
        one, zero = float(event.noise.one), float(event.noise.zero)
        return (
            f"adds a randomised response to {rewards(event.spans)}, 1 with chance {one:.4g} for a "
            f"reward of 1 and {zero:.4g} for one of 0: {event.value:g}; {_charged(event)} on it"
        )
    named = f"{quantity(event.count, event.divisor)} of {rewards(event.spans)}".removeprefix(" of ")
    verb = "adds" if event.added else "releases"
    whom = "it" if event.count == 1 else "each"
    noise = noise_name(event.noise)
    return f"{verb} {named} + {noise} = {event.value:.3f}; {_charged(event)} on {whom}"


def quantity(count: int, divisor: Fraction | int) -> str:
    """Return what of so many rewards is released: their mean, their sum, or nothing to add."""
    if divisor not in (1, count):
        return f"1/{divisor} of the sum"
    if count == 1:
        return ""
    return "mean" if divisor == count else "sum"


def _charged(event: RecordedRelease) -> str:
    return "an unknown charge" if event.charge is None else f"charge {show(event.charge)}"


def noise_name(noise: Noise) -> str:
    """Return a law of noise as a person would write it."""
    match noise:
        case Laplace(scale):
            return f"Laplace({float(scale):.4g})"
        case NoNoise():
            return "no noise"
        case other:
            return type(other).__name__


def _decision(event: RecordedDecision, width: int) -> Iterator[str]:
    yield from paragraph(f"t = {event.time}: {event.rule}.", width, rest="  ")
    names = [rewards(one.spans) for one in event.weighed]
    room = min(max(map(len, names)), max(10, width - 50))
    kept = "stays" if "stays" in event.rule else "chosen"
    last = max(len(one.index) for one in event.weighed)
    for one, name in zip(event.weighed, names, strict=True):
        mark = f"<- {kept}" if one.arm in event.outcome else ""
        short = name if len(name) <= room else f"{name[: room - 3]}..."
        line = f"  arm {one.arm}  uses {short:<{room}}  value {one.value:>8.3f}"
        yield f"{line}  {one.index:<{last}}  {mark}".rstrip()


def charges(events: Sequence[Event], horizon: int) -> list[tuple[range, Charge | None]]:
    """Return what every round's reward is charged in all, as runs of equal charge.

    None is an unknown charge, 0 a reward that was never released.
    """
    totals: dict[int, Charge | None] = {}
    edges = {1, horizon + 1}
    releases = [event for event in events if isinstance(event, RecordedRelease)]
    for event in releases:
        edges |= {edge for span in event.spans for edge in (span.start, span.stop)}
    starts = sorted(edges)
    for start in starts[:-1]:
        totals[start] = 0
    for event in releases:
        for span in event.spans:
            for start in starts:
                if span.start <= start < span.stop:
                    paid = totals[start]
                    both = paid is not None and event.charge is not None
                    totals[start] = paid + event.charge if both else None  # type: ignore[operator]
    runs: list[tuple[range, Charge | None]] = []
    for start, stop in zip(starts, starts[1:], strict=False):
        if runs and runs[-1][1] == totals[start]:
            runs[-1] = (range(runs[-1][0].start, stop), totals[start])
        else:
            runs.append((range(start, stop), totals[start]))
    return runs


def ledger(runs: Sequence[tuple[range, Charge | None]], claim: Notion | None) -> Iterator[str]:
    """Yield the charge of each row as bars, long lists cut short."""
    finite = [float(c) for _, c in runs if c is not None and c < math.inf]
    top = max([*finite, claim.level if claim else 0.0]) or 1.0
    names = [rewards((rounds,)) for rounds, _ in runs]
    room = max(map(len, names))
    for (_, charge), name in list(zip(runs, names, strict=True))[:MOST_BOXES]:
        if charge is None:
            yield f"  {name:<{room}}  unknown"
        elif charge == math.inf:
            yield f"  {name:<{room}}  {'#' * BAR}> infinite"
        elif charge == 0:
            yield f"  {name:<{room}}  {'never released':<{BAR}} 0"
        else:
            bar = "#" * max(1, round(BAR * float(charge) / top))
            yield f"  {name:<{room}}  {bar:<{BAR}} {show(charge)}"
    if len(runs) > MOST_BOXES:
        yield f"  ... and {len(runs) - MOST_BOXES:,} more."


def conclusion(runs: Sequence[tuple[range, Charge | None]], claim: Notion | None) -> str:
    """Return what the charges of this run say about the claim."""
    if any(charge is None for _, charge in runs):
        return "Some release is outside the model of the proof, so its charge is unknown."
    largest = max(charge for _, charge in runs if charge is not None)
    against = "it claims no privacy" if claim is None else f"it claims {claim}"
    return (
        f"Largest charge in this run: {show(largest)}; {against}. "
        "`check` looks at every run, not at one."
    )


def listed(arms: Iterable[object]) -> str:
    """Return a list in words, a long one cut in the middle."""
    shown = [str(arm) for arm in arms]
    return ", ".join(shown if len(shown) <= MOST_LISTED else [*shown[:3], "...", shown[-1]])


def paragraph(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Return text as lines of the given width, indented."""
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest)
