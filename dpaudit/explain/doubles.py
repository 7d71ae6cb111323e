"""The pair that breaks pure epsilon in doubles, constructed and replayed.

numpy's Laplace noise is a logarithm of one of 2^53 uniforms, so it has a largest and a smallest
value. Two arms alternate until they have been pulled equally often; then the second one is chosen.
With the largest noise on its mean and the smallest on the other's, it wins against a lead of k
rewards in the last episode and loses against k + 1. Decisions are monotone in both means, so with
k + 1 no draw lets it win: the actions have probability 0 on one stream, and not on its neighbour.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dpaudit.core.algorithm import Algorithm, Release, Rows
from dpaudit.core.episodes import Asking, Episodes, framed
from dpaudit.core.stream import Trajectory, decide, run_stream
from dpaudit.core.walk import Place
from dpaudit.errors import Unsupported
from dpaudit.report import in_doubles, runs
from dpaudit.structure.chain import chain_of, requested
from dpaudit.structure.program import real_program
from dpaudit.verdict import Program

LEAST, LARGEST = 1, 2**53 - 1  # uniforms, in units of 2^-53; numpy draws again for 0
HALF = 2**52  # the uniform of noise 0
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of numpy's PCG64
LONGEST = 2**20
BOOSTS = (0, 2, 4, 6, 8, 10, 14, 18, 22, 26, 30)  # noise of earlier draws, in scales


class ForgedGenerator:
    """numpy's own PCG64, its state set before every draw so that its uniform is the next one."""

    def __init__(self, uniforms: Iterable[int]) -> None:
        self.uniforms = iter(uniforms)
        self.bits = np.random.PCG64(0)
        self.generator = np.random.Generator(self.bits)

    def laplace(self, loc: float, scale: float) -> float:
        """Return what `Generator.laplace` makes of the next uniform."""
        state = self.bits.state
        wanted = next(self.uniforms) << 11
        # the output of PCG64 is the low word of a state whose high word is 0; one step before it
        before = (wanted - state["state"]["inc"]) * pow(MULTIPLIER, -1, 2**128) % 2**128
        self.bits.state = {**state, "state": {**state["state"], "state": before}}
        return float(self.generator.laplace(loc, scale))


@dataclass(frozen=True)
class Broken:
    """Two neighbouring streams and actions that one of them can show and the other cannot."""

    actions: tuple[int, ...]
    stream: tuple[float, ...]
    neighbour: tuple[float, ...]
    position: int
    lead: int
    noise: tuple[float, float]
    """The least and the largest noise, in scales."""
    uniforms: tuple[int, ...]
    """The draws, in units of 2^-53, with which the stream shows the actions."""
    pairs: int
    """How many of the 2^106 pairs of the last two draws do."""
    replayed: tuple[int, ...]
    replayed_neighbour: tuple[int, ...]
    program: Program


def breaking_pair(algorithm: Algorithm) -> Broken:
    """Return the pair for a declaration of two arms that the theorem on doubles covers."""
    program, why = real_program(algorithm, LONGEST, 0)
    if program is None or not framed(algorithm) or algorithm.arms != 2:
        shown = why or "the pair is constructed for episodes of two arms."
        raise Unsupported(f"No pair is known: {shown}")
    if not program.delta:
        raise Unsupported("On a lattice nothing is rounded: there is no such pair.")
    generator = ForgedGenerator((LEAST, LARGEST))
    extremes = (generator.laplace(0.0, 1.0), generator.laplace(0.0, 1.0))
    for last in chain_of(algorithm, 0, LONGEST):
        lead = _largest_lead(algorithm, last)
        if lead is not None and lead > 0:
            return _replayed(algorithm, last, lead, extremes, program)
    raise Unsupported(f"No pair is known: none within {LONGEST:,} pulls of an arm.")


def _largest_lead(algorithm: Episodes, last: Rows) -> int | None:
    """Return the largest lead of arm 0, in rewards, that arm 1 may overcome; None if every one."""
    low, high = 0, len(last)
    if not _wins(algorithm, last, low, LEAST, LARGEST) or _wins(
        algorithm, last, high, LEAST, LARGEST
    ):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        wins = _wins(algorithm, last, middle, LEAST, LARGEST)
        low, high = (middle, high) if wins else (low, middle)
    return low


def _wins(algorithm: Episodes, last: Rows, lead: int, first: int, second: int) -> bool:
    """Tell whether arm 1 is chosen after `last` episodes of both, with these two uniforms."""
    pulls, registers = (last.stop, last.stop), []
    generator = ForgedGenerator((first, second))
    for arm, total in enumerate((float(lead), 0.0)):
        request = requested(algorithm, Rows(arm, last.first, last.stop))
        if not isinstance(request, Release):
            raise Unsupported("No pair is known: a register adds up.")
        noise = request.noise.sample(generator)  # type: ignore[arg-type]
        registers.append(total / float(request.divisor) + noise)
    place = Place(algorithm, Asking(pulls), pulls, sum(pulls), frozenset((0, 1)))
    return bool(decide(place, np.array(registers), generator) == 1)


def _replayed(
    algorithm: Episodes, last: Rows, lead: int, extremes: tuple[float, float], program: Program
) -> Broken:
    edges = [(rows.first, rows.stop) for rows in chain_of(algorithm, 0, last.stop + 3)]
    plays = [(arm, stop - first) for first, stop in edges for arm in (0, 1)]
    actions = tuple(arm for arm, rounds in plays for _ in range(rounds)) + (1,)
    begun = 2 * last.first  # of arm 0's last episode; arm 1's begins at its end
    zeros = (0.0,) * len(actions)
    stream = zeros[:begun] + (1.0,) * lead + zeros[begun + lead :]
    position = begun + lead
    neighbour = (*stream[:position], 1.0, *stream[position + 1 :])
    for boost in BOOSTS:
        # earlier draws lift both arms, so that neither is left behind by the last ones
        lifted = min(LARGEST, round((1 - np.exp(-boost) / 2) * 2**53))
        uniforms = (*(lifted,) * (len(plays) - 2), LEAST, LARGEST)
        shown = [
            tuple(_run(algorithm, rewards, uniforms).actions.tolist())
            for rewards in (stream, neighbour)
        ]
        if shown[0] == actions:
            pairs = _pairs(algorithm, last, lead)
            place = (position, lead, extremes, uniforms, pairs)
            return Broken(actions, stream, neighbour, *place, shown[0], shown[1], program)
    raise Unsupported("No pair is known: the arms do not alternate, whatever the earlier draws.")


def _run(algorithm: Algorithm, rewards: tuple[float, ...], uniforms: tuple[int, ...]) -> Trajectory:
    return run_stream(algorithm, rewards, ForgedGenerator(uniforms))


def _pairs(algorithm: Episodes, last: Rows, lead: int) -> int:
    """Return how many pairs of uniforms let arm 1 win the last decision."""
    count, first = 0, LEAST
    while _wins(algorithm, last, lead, first, LARGEST):
        second = LARGEST
        while _wins(algorithm, last, lead, first, second):
            count, second = count + 1, second - 1
        first += 1
    return count


def lines(found: Broken, name: str, width: int) -> Iterator[tuple[str, str]]:
    """Yield the story of a pair, each line with its style."""
    least, largest = found.noise
    told = (
        f"numpy's Laplace noise lies between {least:.6g} and {largest:.6g} scales. Before the last "
        f"round arm 0 leads by {found.lead} rewards on the stream, by {found.lead + 1} on its "
        "neighbour. Replayed with numpy's generator, the last two draws the extreme ones: the "
        "stream shows the actions; on the neighbour arm "
        f"{found.replayed_neighbour[-1]} is played last. The decision is monotone in both draws, "
        "so no draws lead there: probability exactly 0, and not on the stream.",
        f"By how little: {found.pairs} of 2^106 pairs of these draws do, so the actions have "
        f"probability at most {found.pairs * 2.0**-106:.2g}. "
        f"{in_doubles(found.program)} With --noise lattice it is as private as the proof says.",
    )
    yield f"{name}: pure epsilon fails in doubles, whatever the epsilon.", "bold"
    for label, row in (
        ("actions", [str(arm) for arm in found.actions]),
        ("stream", [f"{reward:g}" for reward in found.stream]),
        ("neighbour", [f"{reward:g}" for reward in found.neighbour]),
    ):
        yield f"  {label:<10} {runs(row)}", ""
    yield f"  they differ at round {found.position + 1}", ""
    for paragraph in told:
        yield "", ""
        for line in textwrap.wrap(paragraph, width):
            yield line, ""
