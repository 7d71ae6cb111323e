"""Episodes in lockstep: all runs of a block advance together, one episode per turn.

An arm's pull counts climb a fixed ladder, because the length of an episode depends on the arm's
pull count alone. So what an algorithm releases on each rung (divisor, noise, whether the register
is overwritten or added to) is asked of the declaration once per rung and kept in arrays. A turn is
then a few array operations over the runs: rule, one sum per episode, one noise draw. With doubling
a run takes O(K log T) turns, whatever the horizon is.

A rule depends on the public state alone. It is asked for each state that some run stands in, with
that state's own pull counts and time, and shared by the runs that stand there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Accumulate, Algorithm, Play, Respond, Rows, Toss
from dpaudit.core.canonical import Distrust, parameters
from dpaudit.core.episodes import Deciding, Episodes, framed
from dpaudit.core.lattice import DiscreteLaplace
from dpaudit.core.noise import NOISES, Laplace, Noise
from dpaudit.core.outcome import Outcome, RunBlock
from dpaudit.core.scores import RULES, Rule, winner_is_known
from dpaudit.core.stream import apart, decide, in_any_order, side_edges
from dpaudit.core.unchanged import unchanged
from dpaudit.core.walk import FOREIGN, Place

# A ladder with more rungs than this is not worth a table: the algorithm decides almost every round.
MOST_RUNGS = 2**14
MOST_RULES = 2**16
MOST_KEPT = 64
AHEAD = 8  # turns whose lattice noise is drawn together

Counts = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Ladder:
    """Per rung: the pull count before it and the episode's length; per (arm, rung): its release."""

    algorithm: Episodes
    edges: tuple[int, ...]
    lengths: Counts
    divisor: Numbers
    spread: Numbers
    memory: Numbers
    unit: Noise
    grid: int = 0
    """The steps between rewards 0 and 1 of noise on a lattice; 0 for noise on the line."""
    laws: tuple[DiscreteLaplace, ...] = ()
    law: Counts | None = None
    """The laws on the integers of a lattice, and per (arm, rung) which of them."""

    def integers(
        self, arm: Counts, rung: Counts, rng: np.random.Generator, left: dict[int, Counts]
    ) -> Counts:
        """Draw the noise of releases on a lattice, in steps.

        Several turns' worth is drawn at a time; `left` is what this block has not used yet.
        """
        which = self.law[arm, rung]  # type: ignore[index]
        drawn = np.zeros(len(which), dtype=np.int64)
        for number in np.unique(which).tolist():
            here = which == number
            count = int(here.sum())
            waiting = left.get(number, drawn[:0])
            if len(waiting) < count:
                fresh = self.laws[number].integers(rng, AHEAD * count)
                waiting = np.concatenate((waiting, fresh))
            drawn[here], left[number] = waiting[:count], waiting[count:]
        return drawn

    def rungs(self, pulls: Counts) -> Counts:
        """Return the rungs of pull counts that are on the ladder."""
        return np.searchsorted(np.cumsum(self.lengths), pulls, side="right")


def ladder(algorithm: Algorithm, horizon: int) -> Ladder | None:
    """Return the ladder of an algorithm, or None if its runs cannot advance episode by episode.

    They can in the unchanged frame of `Episodes` if every release covers exactly the episode before
    it and goes to the arm's one register, and if all noise is a multiple of one law of dpaudit, or
    all of it integer Laplace noise on rewards rounded to the nearest point of one grid (`unit` is
    then the law on the line that training may think of). A declaration that breaks its contract has
    none: the reference interpreter names the breach.
    """
    if not framed(algorithm) or not unchanged(algorithm, Episodes, ("ask",)):
        return None
    try:
        return _climbed(algorithm, horizon)
    except FOREIGN:
        return None


def _climbed(algorithm: Episodes, horizon: int) -> Ladder | None:
    edges = [0]
    while edges[-1] < horizon:
        rounds = algorithm.episode_length(edges[-1]) if edges[-1] else 1
        if type(rounds) is not int or rounds < 1 or len(edges) > MOST_RUNGS:
            return None
        edges.append(edges[-1] + rounds)
    shape = (algorithm.arms, len(edges) - 1)
    divisor, spread, memory = np.ones(shape), np.zeros(shape), np.zeros(shape)
    units: set[Noise] = set()
    laws: dict[Noise, int] = {}
    law = np.zeros(shape, dtype=np.int64)
    for arm in range(shape[0]):
        for rung in range(shape[1]):
            rows = Rows(arm, edges[rung], edges[rung + 1])
            request = algorithm.release(rows)
            if isinstance(request, Respond):
                return None
            place = Place(algorithm, rows, (edges[rung + 1],) * algorithm.arms)
            place.require(request)
            request = place.drawn_on_grid(request)  # type: ignore[assignment]
            own = request.register == arm and algorithm.registers(arm, rows.stop) == (arm,)
            noise = request.noise
            if not own or request.rows != rows:
                return None
            if (
                type(noise) is DiscreteLaplace
                and noise.rounding == "nearest"
                and noise.cells(request.divisor) == algorithm.grid
            ):
                law[arm, rung] = laws.setdefault(noise.unit(), len(laws))
                noise = Laplace(noise.scale)
            elif type(noise) not in NOISES or laws:
                return None
            divisor[arm, rung] = float(request.divisor)
            spread[arm, rung] = noise.spread()
            memory[arm, rung] = isinstance(request, Accumulate)
            units.add(noise.unit())
    if len(units) != 1:
        return None
    grid = algorithm.grid or 0
    if bool(laws) != bool(grid) or horizon * grid > 2**53:
        return None
    lengths = np.minimum(np.diff(np.array(edges, dtype=object)), horizon).astype(np.int64)
    unit = units.pop()
    kinds = tuple(laws)  # in the order of their numbers
    return Ladder(algorithm, tuple(edges), lengths, divisor, spread, memory, unit, grid, kinds, law)  # type: ignore[arg-type]


@dataclass
class Decisions:
    """The rules of the public states that were met, each asked of the declaration by itself.

    Rules of one kind of dpaudit's own are evaluated together, as one rule whose parameters have a
    row per run; any other is asked run by run.
    """

    climb: Ladder
    places: list[Place] = field(default_factory=list)
    coins: list[Numbers | None] = field(default_factory=list)
    """Of each state: the edges of its coin's sides, one per arm and one for the rule."""
    due: list[int] = field(default_factory=list)
    """Of each state: the arm that is played without a decision, or -1."""
    numbers: dict[Any, int] = field(default_factory=dict)
    kind: type[Rule] | None = None
    shared: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, Numbers] = field(default_factory=dict)
    together: bool = True
    last: tuple[bytes, Counts] | None = None
    """The rungs that were asked for last, and their numbers: a bisection asks again and again."""

    def rule(self, rung: Counts) -> Rule | None:
        """Return the rules of all runs as one, if they are of one kind of dpaudit's own."""
        if len(self.places) > MOST_RULES:
            self.places, self.coins, self.due, self.numbers, self.kind = [], [], [], {}, None
            self.last = None
        number = self.numbers_of(rung)
        if not self.together or self.kind is None:
            return None
        return self.kind(
            **self.shared, **{name: column[number] for name, column in self.columns.items()}
        )

    def winners(self, rung: Counts, x: Numbers, rng: np.random.Generator) -> Counts:
        """Return the arm that each run chooses, from the rungs and the registers of its arms."""
        rule = self.rule(rung)
        if rule is not None:
            return np.asarray(rule.winner(x, rng))
        number = self.numbers_of(rung).tolist()
        places = [self.places[n] for n in number]
        known = {n: winner_is_known(self.places[n].rule) for n in set(number)}
        own = [rng if known[n] else apart(rng) for n in number]
        chosen = in_any_order(len(x), lambda run: decide(places[run], x[run], own[run]))
        return np.array(chosen, dtype=np.int64)

    def chosen(self, rung: Counts, x: Numbers, rng: np.random.Generator) -> Counts:
        """Return the arm that each run plays next: the one due, its coin's, or else the rule's.

        The runs whose state has a coin toss first, all at once; the rule then decides for those
        that are left.
        """
        if unchanged(self.climb.algorithm, Episodes, ("explored", "due")):
            return self.winners(rung, x, rng)
        arms, states = self.climb.algorithm.arms, self.numbers_of(rung).tolist()
        arm = np.array([self.due[n] for n in states])
        arm[arm < 0] = arms
        coins = [self.coins[n] for n in states]
        tossing = np.flatnonzero([coin is not None for coin in coins])
        if len(tossing):
            edges = np.array([coins[run] for run in tossing])
            arm[tossing] = (rng.random(len(tossing))[:, None] >= edges).sum(axis=1)
        left = np.flatnonzero(arm == arms)
        if len(left):
            arm[left] = self.winners(rung[left], x[left], rng)
        return arm

    def numbers_of(self, rung: Counts) -> Counts:
        """Return the number of every run's state, new ones asked for and written down."""
        told, last = rung.tobytes(), self.last  # of any thread
        if last is not None and last[0] == told:
            return last[1]
        bits = len(self.climb.edges).bit_length()
        if bits * rung.shape[1] <= 62:
            names = (rung @ (1 << (bits * np.arange(rung.shape[1])))).tolist()
        else:
            names = list(map(tuple, rung.tolist()))
        known = self.numbers
        for index, name in enumerate(names):
            if name not in known:
                known[name] = self.ask(rung[index].tolist())
        found = np.array([known[name] for name in names])
        self.last = told, found
        return found

    def ask(self, rungs: list[int]) -> int:
        """Ask for the rule of one state and return its number."""
        algorithm = self.climb.algorithm
        pulls = tuple(self.climb.edges[rung] for rung in rungs)
        written = frozenset(range(algorithm.arms))
        place = Place(algorithm, Deciding(pulls), pulls, sum(pulls), written)
        coin, due = None, -1
        if isinstance(place.request, Play):
            due = place.request.arm
        elif isinstance(place.request, Toss):
            *arms, _ = place.request.chances
            for side in range(algorithm.arms, len(arms)):
                _ = place.after(side).request  # names an arm that there is not
            coin = side_edges((*arms, *[0] * (algorithm.arms - len(arms)), 1 - sum(arms)))
            place = place.after(len(arms))
        number = len(self.places)
        self.places.append(place)
        self.coins.append(coin)
        self.due.append(due)
        if due < 0:
            self.together = self.together and self.stacked(place.rule, number)
        return number

    def stacked(self, rule: Rule, number: int) -> bool:
        """Add a row of parameters; False where this rule cannot be evaluated with the others."""
        if type(rule) not in RULES or vars(rule).keys() != {it.name for it in fields(rule)}:  # type: ignore[arg-type]
            return False
        arms = self.climb.algorithm.arms
        rows = {k: v for k, v in vars(rule).items() if np.shape(v) == (arms,)}
        shared = {k: v for k, v in vars(rule).items() if k not in rows}
        if self.kind is None:
            self.kind, self.shared = type(rule), shared
            self.columns = {name: np.empty((64, arms)) for name in rows}
        alike = all(type(v) is type(self.shared.get(k)) for k, v in shared.items())
        if self.kind is not type(rule) or rows.keys() != self.columns.keys() or not alike:
            return False
        if any(np.ndim(v) or v != self.shared[k] for k, v in shared.items()):
            return False
        for name, value in rows.items():
            while number >= len(self.columns[name]):
                self.columns[name] = np.concatenate((self.columns[name],) * 2)
            self.columns[name][number] = value
        return True


class Supposed(Decisions):
    """The decisions of runs that only aim, and may hang together: nothing is concluded from them.

    A rule of one's own is asked once for all runs that stand in a state, where it can be.
    """

    def winners(self, rung: Counts, x: Numbers, rng: np.random.Generator) -> Counts:
        """Return the arm that each run chooses."""
        if self.rule(rung) is not None:
            return super().winners(rung, x, rng)
        number, found = self.numbers_of(rung), np.zeros(len(x), dtype=np.int64)
        for one in np.unique(number).tolist():
            some = number == one
            try:
                chosen = np.asarray(self.places[one].rule.winner(x[some], apart(rng)))
            except FOREIGN:
                return super().winners(rung, x, rng)
            if chosen.shape != (some.sum(),) or chosen.dtype.kind not in "iu":
                return super().winners(rung, x, rng)
            found[some] = chosen
        return found


_kept: dict[Any, Decisions | None] = {}


def decisions(
    algorithm: Algorithm, horizon: int, kind: type[Decisions] = Decisions
) -> Decisions | None:
    """Return the decisions of an algorithm in lockstep, or None if it has no ladder.

    They are kept for the next block of runs, by the type and the plain values of the parameters:
    a class may call instances equal that are not.
    """
    try:
        key = kind, type(algorithm), parameters(algorithm), horizon
    except Distrust:
        key = None
    if key is None or key not in _kept:
        climb = ladder(algorithm, horizon)
        found = None if climb is None else kind(climb)
        if key is None:
            return found
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[key] = found
    return _kept[key]


class Releases(NamedTuple):
    """The releases of one turn, over the runs that make one; `kept` is what a register adds to."""

    runs: Counts
    arm: Counts
    begun: Counts
    ended: Counts
    noise: Numbers
    spread: Numbers
    divisor: Numbers
    kept: Numbers
    register: Numbers


Totals = Callable[[Counts, Counts, Counts], Any]
"""(arm, first step, end) of an episode, over runs -> the sum of its rewards.

On a lattice, the integer sum of the rewards rounded to the grid.
"""


def advance(
    decisions: Decisions,
    horizon: int,
    runs: int,
    rng: np.random.Generator,
    totals: Totals,
    released: Callable[[Releases], None] = lambda _: None,
) -> tuple[NDArray[np.int16], Counts]:
    """Return the arm and the first step of every play of a block of runs, a column per turn.

    A run that has ended has plays of arm 0 that begin at the horizon. `released` hears of every
    turn's releases, with the registers that they leave.
    """
    climb = decisions.climb
    arms = climb.algorithm.arms
    register = np.zeros((runs, arms))
    rung = np.zeros((runs, arms), dtype=np.int64)
    time = np.zeros(runs, dtype=np.int64)
    left: dict[int, Counts] = {}
    played: list[NDArray[np.int16]] = []
    starts: list[Counts] = []
    alive = np.arange(runs)
    while len(alive):
        if len(played) < arms:
            arm = np.full(len(alive), len(played))
        else:
            arm = decisions.chosen(rung[alive], register[alive], rng)
        column, start = np.zeros(runs, dtype=np.int16), np.full(runs, horizon, dtype=np.int64)
        column[alive], start[alive] = arm, time[alive]
        played.append(column)
        starts.append(start)
        step, begun = rung[alive, arm], time[alive]
        ended = np.minimum(begun + climb.lengths[step], horizon)
        rung[alive, arm] += 1
        time[alive] = ended
        # an episode that ends at the horizon, cut or not, is never released
        going = ended < horizon
        alive, arm, step, begun, ended = (x[going] for x in (alive, arm, step, begun, ended))
        spread, divisor = climb.spread[arm, step], climb.divisor[arm, step]
        kept = climb.memory[arm, step] * register[alive, arm]
        if climb.grid:
            # integers until the sum is drawn: the double is computed from it alone
            steps, cells = climb.integers(arm, step, rng, left), climb.grid * divisor
            noise, shown = steps / cells, (totals(arm, begun, ended) + steps) / cells
        else:
            noise = climb.unit.draw(rng, len(alive)) * spread
            shown = totals(arm, begun, ended) / divisor + noise
        held = register[alive, arm] = kept + shown
        released(Releases(alive, arm, begun, ended, noise, spread, divisor, kept, held))
    return np.stack(played, axis=1), np.stack(starts, axis=1)


def run(decisions: Decisions, block: RunBlock) -> Outcome:
    """Simulate a block of runs and read their regret at all of its times."""
    environment, times, runs, rng = block.environment, block.times, block.runs, block.rng
    horizon, grid = int(times[-1]), decisions.climb.grid

    def totals(arm: Counts, begun: Counts, ended: Counts) -> Any:
        sums = environment.totals(arm, ended - begun, rng)
        # sums of 0s and 1s are exact; any other is rounded as a whole
        return np.rint(sums * grid).astype(np.int64) if grid else sums

    arms, starts = advance(decisions, horizon, runs, rng, totals)
    at = np.concatenate((starts, np.full((runs, 1), horizon)), axis=1)
    lengths = np.diff(at, axis=1)
    value = np.cumsum(lengths * environment.gaps[arms], axis=1)
    value = np.concatenate((np.zeros((runs, 1)), value), axis=1)
    curve = np.array([np.interp(times, at[i], value[i]) for i in range(runs)])
    every = range(decisions.climb.algorithm.arms)
    pulls = np.stack([np.where(arms == arm, lengths, 0).sum(axis=1) for arm in every], axis=1)
    return Outcome(pulls, curve, (starts < horizon).sum(axis=1) - 1)
