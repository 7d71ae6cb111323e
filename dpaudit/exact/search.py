"""Every decision path and every extremal pair at once, by meeting in the middle.

On the graph of public states, with all episodes but one at all-b, a path's likelihood is
integral A(x) f(x) B(x) dx at any of its vertices: A depends on what came before, B on what comes
after, f is the density of the held register. The vectors A of all prefixes and B of all suffixes of
a vertex are computed once, and the own sum s of the odd episode enters only through weights on the
grid, so all pairs of prefix and suffix are one matrix product per own sum. Prefixes are stored up
to a middle level and suffixes from it on; beyond, they are generated depth first and forgotten.

What comes out are the most promising (path, episode, step) candidates, to be evaluated accurately
by the chain engine. The search itself agreed with the chain to 1e-7 up to T = 8; on unlikely paths
with long episodes it can be far off, so that it misses the worst step: what comes out is then a
valid lower bound and nothing more.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dpaudit.exact.chain import log_cumulative, log_survival
from dpaudit.exact.grid import ORDER, Grid, make_edges
from dpaudit.exact.lattice import Law, Vertex, own_sums, prefix_counts, suffix_counts
from dpaudit.exact.pairs import Streams

Array = NDArray[np.float64]

_CHUNK = 512
_WIDEST = 3.0
_SLACK = 1e-4


@dataclass(frozen=True, order=True)
class Candidate:
    """A step that may be the worst: all decisions, the episode, its own sums.

    Ordered by the loss as far as the search can tell it, then by the likelihood: among equals the
    likelier path is the one that the search got right and that a person can observe.
    """

    grade: int
    log_likelihood: float
    loss: float
    decisions: tuple[int, ...]
    introduced: int
    arm: int
    background: int
    better: float
    worse: float


@dataclass
class Bundle:
    """Vectors of many prefixes (or suffixes) of a vertex: values, log scales, decisions."""

    values: Array  # nodes x many
    logs: Array
    words: list[tuple[int, ...]]
    new: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.words)

    def part(self, start: int, stop: int) -> Bundle:
        return Bundle(
            self.values[:, start:stop],
            self.logs[start:stop],
            self.words[start:stop],
            self.new[start:stop],
        )

    def only(self, keep: NDArray[np.bool_]) -> Bundle:
        if keep.all():
            return self
        words = [word for word, kept in zip(self.words, keep, strict=True) if kept]
        return Bundle(self.values[:, keep], self.logs[keep], words, self.new[keep])


def _normal(values: Array, logs: Array) -> tuple[Array, Array]:
    top = values.max(0)
    safe = np.where(top > 0, top, 1.0)
    return values / safe, logs + np.log(safe)


def _join(parts: list[Bundle]) -> Bundle:
    return Bundle(
        np.concatenate([part.values for part in parts], axis=1),
        np.concatenate([part.logs for part in parts]),
        [word for part in parts for word in part.words],
        np.concatenate([part.new for part in parts]),
    )


class Search:
    """All extremal pairs of one background on the graph of public states."""

    def __init__(
        self, vertices: list[Vertex], background: int, streams: Streams, floor: float, keep: int
    ) -> None:
        self.vertices, self.background, self.streams = vertices, background, streams
        self.log_floor = math.log(floor)
        self._all_convex = all(vertex.convex for vertex in vertices)
        self.keep = keep
        self.candidates: list[Candidate] = []
        self.above_floor = 0.0
        self.likely: Candidate | None = None
        self.likely_loss = -math.inf
        self.pairs = 0
        self.unresolved = 0
        self.largest = -math.inf
        self._grids: dict[Law, Grid] = {}
        self._tables: dict[tuple[int, str], tuple[NDArray[np.int64], csr_matrix, Array, Array]] = {}
        self._factors: dict[int, Array] = {}
        self._kinks: dict[Law, list[float]] = {}
        self._rules: dict[tuple[int, str], tuple[Array, Array]] = {}
        self._collect_kinks()

    def centre(self, law: Law) -> float:
        """Return the centre of a release whose rewards are all at the background."""
        return self.background * law.length / law.divisor

    def _collect_kinks(self) -> None:
        for vertex in self.vertices:
            for arm in (0, 1):
                law, other = vertex.laws[arm], vertex.laws[1 - arm]
                theirs = [self.centre(other), *vertex.duel.kinks(1 - arm)]
                points = vertex.duel.kinks(arm) + vertex.duel.image(1 - arm, theirs)
                # beside a kink the messages change on the scale of the other arm's noise
                graded = [
                    k + side * _WIDEST * other.scale * (2.0**j - 1)
                    for k in points
                    for side in (-1, 1)
                    for j in range(1, 12)
                    if other.scale * 2.0**j < law.scale
                ]
                self._kinks.setdefault(law, []).extend(points + graded)

    def grid(self, law: Law) -> Grid:
        """Return the grid of a register."""
        if law not in self._grids:
            edges = make_edges(self._kinks[law], self.centre(law), law.scale, _WIDEST)
            self._grids[law] = Grid(edges)
        return self._grids[law]

    # -- operators -------------------------------------------------------------------------------

    def _density(self, law: Law, centre: float) -> Callable[[Array], Array]:
        return lambda x: np.exp(-np.abs(x - centre) / law.scale) / (2 * law.scale)

    def absorb(self, vertex: Vertex) -> Array:
        """Return the probability that the fresh register wins, at the held register's nodes."""
        if id(vertex) not in self._factors:
            held, fresh = vertex.laws[vertex.held], vertex.laws[vertex.fresh]
            threshold = vertex.duel.least_to_win(vertex.fresh, self.grid(held).points)
            centre = self.centre(fresh)
            self._factors[id(vertex)] = np.exp(log_survival(threshold, centre, fresh.scale))
        return self._factors[id(vertex)]

    def _table(
        self, vertex: Vertex, kind: str
    ) -> tuple[NDArray[np.int64], csr_matrix, Array, Array]:
        """Return how to integrate over one register up to the threshold set by the other.

        "tail": over the held x that beat a fresh y, at the nodes of y. "head": over the fresh y
        that lose to a held x, at the nodes of x.
        """
        key = (id(vertex), kind)
        if key in self._tables:
            return self._tables[key]
        held, fresh = vertex.laws[vertex.held], vertex.laws[vertex.fresh]
        inner, outer = (held, fresh) if kind == "tail" else (fresh, held)
        position = vertex.held if kind == "tail" else vertex.fresh
        source, target = self.grid(inner), self.grid(outer)
        cut = vertex.duel.least_to_win(position, target.points)
        centre = self.centre(inner)
        density = self._density(inner, centre)
        panel = source.panel_of(cut)
        inside = np.clip(cut, source.left[panel], source.right[panel])
        ends = (inside, source.right[panel]) if kind == "tail" else (source.left[panel], inside)
        partial = source.partial(density, ends[0], ends[1], panel)
        columns = panel[:, None] * ORDER + np.arange(ORDER)
        rows = np.repeat(np.arange(len(target)), ORDER)
        sparse = csr_matrix(
            (partial.ravel(), (rows, columns.ravel())), shape=(len(target), len(source))
        )
        whole = source.weights(lambda x, _: density(x), source.fine, [centre])
        log_mass = log_survival if kind == "tail" else log_cumulative
        outside = cut > source.edges[-1] if kind == "tail" else cut < source.edges[0]
        beyond = np.where(outside, np.exp(log_mass(cut, centre, inner.scale)), 0.0)
        self._tables[key] = (panel, sparse, whole, beyond)
        return self._tables[key]

    def _integrate(self, vertex: Vertex, kind: str, values: Array) -> Array:
        panel, sparse, whole, beyond = self._table(vertex, kind)
        many = values.shape[1]
        masses = (whole[:, None] * values).reshape(-1, ORDER, many).sum(1)
        sums = np.zeros((len(masses) + 1, many))
        if kind == "tail":
            sums[:-1] = np.cumsum(masses[::-1], axis=0)[::-1]
            rest, edge = sums[panel + 1], values[-1]
        else:
            sums[1:] = np.cumsum(masses, axis=0)
            rest, edge = sums[panel], values[0]
        inside = np.asarray(sparse @ values) + rest
        # past the window the function itself is taken as constant; only the density decays
        return np.where(beyond[:, None] > 0, beyond[:, None] * edge, np.maximum(inside, 0.0))

    # -- bundles ---------------------------------------------------------------------------------

    def _forward(self, vertex: Vertex, winner: int, bundle: Bundle) -> Bundle:
        words = [(*word, winner) for word in bundle.words]
        if winner == vertex.fresh:
            values = bundle.values * self.absorb(vertex)[:, None]
            new = np.zeros(len(words), dtype=bool)
        else:
            values = self._integrate(vertex, "tail", bundle.values)
            new = np.ones(len(words), dtype=bool)
        values, logs = _normal(values, bundle.logs)
        return Bundle(values, logs, words, new)

    def _backward(self, vertex: Vertex, winner: int, bundle: Bundle | None) -> Bundle:
        if bundle is None:
            after = vertex.laws[vertex.held if winner == vertex.fresh else vertex.fresh]
            bundle = Bundle(
                np.ones((len(self.grid(after)), 1)), np.zeros(1), [()], np.zeros(1, dtype=bool)
            )
        words = [(winner, *word) for word in bundle.words]
        if winner == vertex.fresh:
            values = bundle.values * self.absorb(vertex)[:, None]
        else:
            values = self._integrate(vertex, "head", bundle.values)
        values, logs = _normal(values, bundle.logs)
        return Bundle(values, logs, words, bundle.new)

    def _start(self) -> Bundle:
        nodes = len(self.grid(self.vertices[0].laws[self.vertices[0].held]))
        return Bundle(np.ones((nodes, 1)), np.zeros(1), [()], np.ones(1, dtype=bool))

    def middle(self) -> int:
        """Return the level that stores the fewest vectors."""
        before, after = prefix_counts(self.vertices), suffix_counts(self.vertices)
        top = self.vertices[-1].level

        def cost(level: int) -> int:
            stored = sum(before[id(v)] for v in self.vertices if v.level <= level)
            return stored + sum(after[id(v)] for v in self.vertices if v.level >= level)

        return min(range(top + 1), key=cost)

    def run(self) -> Iterator[int]:
        """Search everything; yield after each piece of work (the number of pairs so far)."""
        if not self.vertices:
            return
        middle = self.middle()
        suffixes: dict[int, Bundle] = {}
        for vertex in reversed(self.vertices):
            if vertex.level < middle:
                break
            parts = [
                self._backward(vertex, w, None if after is None else suffixes[id(after)])
                for w, after in enumerate(vertex.after)
            ]
            suffixes[id(vertex)] = _join(parts)
            yield self.pairs
        prefixes: dict[int, Bundle] = {id(self.vertices[0]): self._start()}
        for vertex in self.vertices:
            if vertex.level >= middle:
                break
            bundle = prefixes[id(vertex)]
            for winner, after in enumerate(vertex.after):
                if after is not None:
                    moved = self._forward(vertex, winner, bundle)
                    known = prefixes.get(id(after))
                    prefixes[id(after)] = moved if known is None else _join([known, moved])
                else:
                    self._last(vertex, winner, bundle)
            yield self.pairs
        for vertex in self.vertices:
            if vertex.level == middle:
                for chunk in _chunks(prefixes[id(vertex)]):
                    yield from self._descend(vertex, chunk, suffixes)
                for chunk in _chunks(suffixes[id(vertex)]):
                    yield from self._ascend(vertex, chunk, prefixes, own=False)

    def _descend(
        self, vertex: Vertex, bundle: Bundle, suffixes: dict[int, Bundle]
    ) -> Iterator[int]:
        """Pair prefixes at and after the middle with the stored suffixes."""
        self._held(vertex, bundle, suffixes[id(vertex)])
        for winner, after in enumerate(vertex.after):
            if after is None:
                self._last(vertex, winner, bundle)
                continue
            if winner == vertex.fresh:
                self._fresh_wins(vertex, bundle, suffixes[id(after)])
            moved = self._forward(vertex, winner, bundle)
            for chunk in _chunks(moved):
                yield from self._descend(after, chunk, suffixes)
        yield self.pairs

    def _ascend(
        self, vertex: Vertex, bundle: Bundle, prefixes: dict[int, Bundle], own: bool
    ) -> Iterator[int]:
        """Pair suffixes before the middle with the stored prefixes."""
        if own:
            self._held(vertex, prefixes[id(vertex)], bundle)
        for before, winner in vertex.before:
            if winner == before.fresh:
                self._fresh_wins(before, prefixes[id(before)], bundle)
            moved = self._backward(before, winner, bundle)
            for chunk in _chunks(moved):
                yield from self._ascend(before, chunk, prefixes, own=True)
        yield self.pairs

    # -- pairs -----------------------------------------------------------------------------------

    def _held(self, vertex: Vertex, prefixes: Bundle, suffixes: Bundle) -> None:
        """The odd episode is the held register, in the vertex where it is first held."""
        prefixes = prefixes.only(prefixes.new)
        if len(prefixes):
            self._pair(vertex, "held", prefixes, suffixes, middle=())

    def _fresh_wins(self, vertex: Vertex, prefixes: Bundle, suffixes: Bundle) -> None:
        """The odd episode is the fresh register and wins at once."""
        self._pair(vertex, "wins", prefixes, suffixes, middle=(vertex.fresh,))

    def _last(self, vertex: Vertex, winner: int, prefixes: Bundle) -> None:
        """The horizon comes before another decision: the fresh register is read once."""
        ones = np.ones((len(self.grid(vertex.laws[vertex.held])), 1))
        end = Bundle(ones, np.zeros(1), [()], np.zeros(1, dtype=bool))
        kind = "wins" if winner == vertex.fresh else "loses"
        self._pair(vertex, kind, prefixes, end, middle=(winner,))

    def _rule(self, vertex: Vertex, kind: str) -> tuple[Array, Array]:
        """Return the own sums to try, worst first, and the weights on the grid for each."""
        key = (id(vertex), kind)
        if key not in self._rules:
            law = vertex.laws[vertex.held if kind == "held" else vertex.fresh]
            sums = self._sums(law, kind, vertex.convex)
            weights = self._held_weights if kind == "held" else self._fresh_weights
            self._rules[key] = (sums, weights(vertex, kind, sums))
        return self._rules[key]

    def _units(self, law: Law, kind: str) -> int:
        """Return how many own sums are tried to a unit: full steps only where that suffices."""
        if self.streams == "binary" or (kind != "held" and law.length == 1):
            return 1
        if kind != "held":
            return 2 if law.length < 16 else 1
        return max(1, min(8, 32 // law.length))

    def _sums(self, law: Law, kind: str, convex: bool) -> Array:
        units = self._units(law, kind)
        sums = own_sums(law, units)
        if self.background == 0:
            sums = sums[::-1]
        # concave in the own sum: the first step of a rise, the last step of a fall is the worst
        return sums[: units + 1] if convex and self._all_convex else sums

    def _held_weights(self, vertex: Vertex, kind: str, sums: Array) -> Array:
        law = vertex.laws[vertex.held]
        grid = self.grid(law)
        found = []
        for centre in (sums / law.divisor).tolist():
            density = self._density(law, centre)

            def factor(x: Array, _: Array, f: Callable[[Array], Array] = density) -> Array:
                return f(x)

            found.append(grid.weights(factor, grid.fine, [centre]))
        return np.array(found)

    def _fresh_weights(self, vertex: Vertex, kind: str, sums: Array) -> Array:
        held, fresh = vertex.laws[vertex.held], vertex.laws[vertex.fresh]
        grid = self.grid(held)
        density = self._density(held, self.centre(held))
        side = log_survival if kind == "wins" else log_cumulative
        threshold = vertex.duel.least_to_win(vertex.fresh, grid.fine)
        flat = threshold.ravel()
        finite = np.isfinite(flat)
        found = []
        for centre in (sums / fresh.divisor).tolist():

            def factor(x: Array, cut: Array, centre: float = centre) -> Array:
                return np.asarray(density(x) * np.exp(side(cut, centre, fresh.scale)))

            crossed = finite.any() and flat[finite][0] < centre < flat[finite][-1]
            kinks = []
            if crossed:
                kinks = [float(np.interp(centre, flat[finite], grid.fine.ravel()[finite]))]
            found.append(grid.weights(factor, threshold, kinks))
        return np.array(found)

    def _pair(
        self,
        vertex: Vertex,
        kind: str,
        prefixes: Bundle,
        suffixes: Bundle,
        middle: tuple[int, ...],
    ) -> None:
        """Try every step of the odd episode's own sum on every prefix and suffix."""
        self.pairs += len(prefixes) * len(suffixes)
        law = vertex.laws[vertex.held if kind == "held" else vertex.fresh]
        sums, weights = self._rule(vertex, kind)
        units = self._units(law, kind)
        full = kind != "held" or self.streams == "binary"
        gaps = (units,) if full else range(1, units + 1)
        recent: list[Array] = []
        best = np.zeros((len(prefixes), len(suffixes)))
        steps = np.zeros((2, *best.shape), dtype=np.int32)
        tops = np.zeros(best.shape)
        for place in range(len(sums)):
            now = (prefixes.values * weights[place][:, None]).T @ suffixes.values
            self.unresolved += int(np.count_nonzero(now <= 0))
            np.maximum(now, 1e-300, out=now)
            for gap in gaps:
                if gap > len(recent):
                    continue
                # a clipped product says nothing about a ratio
                rise = np.where(recent[-gap] > 1e-280, now / recent[-gap], 0.0)
                better = rise > best
                np.copyto(best, rise, where=better)
                np.copyto(tops, now, where=better)
                np.copyto(steps[0], place, where=better)
                np.copyto(steps[1], place - gap, where=better)
            recent = [*recent[-units + 1 :], now] if units > 1 else [now]
        with np.errstate(divide="ignore"):
            best, tops = np.log(best), np.log(tops)
        # no step can lose more than the charge of its own release: the grid was too coarse there
        wrong = best > 1 / (law.scale * law.divisor) + 1e-6
        self.unresolved += int(np.count_nonzero(wrong))
        best[wrong] = -np.inf
        self._record(best, tops, steps, sums, law, prefixes, suffixes, middle)

    def _record(
        self,
        best: Array,
        tops: Array,
        steps: NDArray[np.int32],
        sums: Array,
        law: Law,
        prefixes: Bundle,
        suffixes: Bundle,
        middle: tuple[int, ...],
    ) -> None:
        tops = tops + prefixes.logs[:, None] + suffixes.logs[None, :]
        seen = best[tops >= self.log_floor]
        if seen.size:
            self.above_floor = max(self.above_floor, float(seen.max()))
        self.largest = max(self.largest, float(best.max()))
        grades = np.floor(np.maximum(best, 0.0) / _SLACK)
        bar = self.candidates[0].grade if len(self.candidates) >= self.keep else -np.inf
        places = np.flatnonzero(grades >= bar)
        if len(places) > self.keep:
            order = np.lexsort((tops.ravel()[places], grades.ravel()[places]))
            places = places[order[-self.keep :]]
        likely = np.where(tops >= self.log_floor, best, -np.inf)
        top = int(np.argmax(likely))
        observable = likely.ravel()[top] > self.likely_loss
        for flat in [*places, *([top] if observable else [])]:
            i, j = divmod(int(flat), best.shape[1])
            candidate = Candidate(
                int(grades[i, j]),
                float(tops[i, j]),
                float(best[i, j]),
                (*prefixes.words[i], *middle, *suffixes.words[j]),
                len(prefixes.words[i]),
                law.arm,
                self.background,
                float(sums[steps[0, i, j]]),
                float(sums[steps[1, i, j]]),
            )
            if observable and flat == top:
                self.likely, self.likely_loss = candidate, candidate.loss
            if len(self.candidates) < self.keep:
                heapq.heappush(self.candidates, candidate)
            else:
                heapq.heappushpop(self.candidates, candidate)


def _chunks(bundle: Bundle) -> Iterator[Bundle]:
    for start in range(0, len(bundle), _CHUNK):
        yield bundle.part(start, start + _CHUNK)
