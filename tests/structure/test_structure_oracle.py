"""The memoised walk against brute force: all paths, charges summed row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.core.algorithm import Accumulate, Algorithm, Choose, Keep, Play, Release, Rows, Step
from dpaudit.core.algorithms import find, load, names, parameters
from dpaudit.core.arithmetic import exact
from dpaudit.core.episodes import framed
from dpaudit.core.linear import in_linear_phases
from dpaudit.core.noise import Laplace
from dpaudit.core.notions import Kind
from dpaudit.core.scores import Affine
from dpaudit.exact.paths import all_paths
from dpaudit.structure import bound
from dpaudit.structure.chain import longest_chains
from dpaudit.structure.ledger import heaviest
from dpaudit.structure.tree import deepest_row, is_tree

PRIVATE = [n for n in names() if find(n).private and find(n).notion is Kind.PURE]


def brute_force(algorithm: Algorithm, horizon: int) -> Fraction:
    """The largest charge of a row, from the definition: no memory, no runs, no frame."""
    worst = Fraction(0)
    for path in all_paths(algorithm, horizon):
        paid: Counter[tuple[int, int]] = Counter()
        for event in path.events:
            if isinstance(event, Release | Accumulate):
                for row in range(event.rows.first, event.rows.stop):
                    paid[event.rows.arm, row] += 1 / (event.divisor * exact(event.noise.scale))
        worst = max([worst, *paid.values()])
    return worst


def build(name: str, arms: int, horizon: int, epsilon: float = 1.0) -> Algorithm:
    values: dict[str, Any] = {"arms": arms, "epsilon": epsilon}
    if "horizon" in parameters(find(name)):
        values["horizon"] = horizon
    return load(name, **values)


CASES = [
    (name, *case) for name in PRIVATE for case in ((2, (2, 3, 4, 7, 11)), (3, (3, 5)), (3, (7,)))
]
LONG = ("adap_tt", 3, (7,))  # half a minute: a coin in every round


@pytest.mark.parametrize(
    ("name", "arms", "horizons"),
    [pytest.param(*it, marks=pytest.mark.slow if it == LONG else ()) for it in CASES],
)
def test_walk_equals_brute_force(name, arms, horizons):
    for horizon in horizons:
        algorithm = build(name, arms, horizon, 0.3)
        truth = brute_force(algorithm, horizon)
        found = bound(algorithm, horizon)
        assert found.complete
        if in_linear_phases(algorithm):  # charged by its law, whether anything is released or not
            assert found.charge >= truth
            continue
        assert found.charge == truth
        if framed(algorithm):
            assert longest_chains(algorithm, horizon, float("inf")).charge == truth
        if is_tree(algorithm, horizon):
            assert deepest_row(algorithm, horizon).charge == truth


def test_walk_equals_brute_force_after_an_elimination():
    """dp_se with a short first epoch, so that the second one is reached by brute force."""
    algorithm = load("dp_se", arms=3, epsilon=1000.0, horizon=3000, beta=1.0)
    horizon = 2000
    truth = brute_force(algorithm, horizon)
    assert truth == 1000
    assert bound(algorithm, horizon).charge == truth


class Place(NamedTuple):
    line: int
    pulls: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Program(Algorithm):
    """A little program of requests: releases may read any rows, again and again."""

    lines: tuple[tuple[Any, ...], ...]
    private: ClassVar[bool] = False

    def start(self) -> Place:
        return Place(0, (0,) * self.arms)

    def step(self, state: Place) -> Step:
        pulls, here = state.pulls, self.lines[state.line]

        def go(target: int) -> Place:
            return Place(target % len(self.lines), pulls)

        if here[0] == "play":
            _, arm, rounds, target = here

            def played(rows: Rows) -> Place:
                assert len(rows) == rounds
                after = (*pulls[:arm], rows.stop, *pulls[arm + 1 :])
                return Place(target % len(self.lines), after)

            return Step(Play(arm, rounds), played)
        if here[0] == "release":
            _, kind, arm, first, stop, scale, divisor, target = here
            begun = min(pulls[arm] * first // 4, pulls[arm] - 1)
            rows = Rows(arm, begun, max(begun + 1, pulls[arm] * stop // 4))
            request = {"set": Release, "add": Accumulate}[kind]
            return Step(request(arm, rows, Laplace(scale), divisor), lambda _: go(target))
        registers = tuple((arm,) for arm in range(self.arms))
        arms = tuple(range(self.arms))
        if here[0] == "choose":
            return Step(
                Choose(arms, registers, lambda m: Affine(0.0)), lambda arm: go(here[1][arm])
            )
        return Step(Keep(arms, registers, lambda m: 1), lambda kept: go(here[1][len(kept) - 1]))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Every loop passes line 0, which plays and fills both registers; two choices at the most."""
    length, choices = draw(st.integers(5, 9)), 0
    lines: list[tuple[Any, ...]] = []
    for number in (0, 1):
        lines.append(("play", number, 1, 2 * number + 1))
        lines.append(("release", "set", number, 0, 4, Fraction(2), 1, 2 * number + 2))
    arm, fourth = st.integers(0, 1), st.integers(0, 4)
    scale = st.sampled_from([Fraction(1, 3), Fraction(2), 0.1, Fraction(5, 7)])
    divisor = st.sampled_from([1, 3, Fraction(1, 2)])
    for number in range(4, length):
        later = st.integers(number + 1, length)
        kinds = ["play", "release"] + ["choose", "keep"] * (choices < 2)
        kind = draw(st.sampled_from(kinds))
        if kind == "play":
            lines.append((kind, draw(arm), draw(st.integers(1, 3)), draw(later)))
        elif kind == "release":
            ends = draw(fourth), draw(fourth)
            how = draw(st.sampled_from(["set", "add"]))
            lines.append((kind, how, draw(arm), *ends, draw(scale), draw(divisor), draw(later)))
        else:
            choices += 1
            lines.append((kind, (draw(later), draw(later))))
    return Program(arms=2, lines=tuple(lines))


@settings(deadline=None, max_examples=150)
@given(programs(), st.integers(1, 8))
def test_walk_equals_brute_force_on_odd_declarations(program, horizon):
    found = bound(program, horizon)
    assert found.complete
    assert found.charge == brute_force(program, horizon)


def test_memory_does_not_forget_what_a_row_has_paid():
    """Two paths lead to one public state; on one of them the row was released before."""
    lines = (
        ("play", 1, 1, 1),
        ("release", "set", 1, 0, 4, Fraction(10**6), 1, 2),
        ("play", 0, 1, 3),
        ("release", "set", 0, 0, 4, Fraction(1), 1, 4),
        ("choose", (5, 6)),
        ("release", "set", 0, 0, 4, Fraction(1), 1, 6),
        ("play", 1, 1, 7),
        ("release", "set", 0, 0, 4, Fraction(1), 1, 8),
        ("play", 1, 5, 0),
    )
    assert bound(Program(arms=2, lines=lines), 7).charge == 3


@pytest.mark.parametrize("horizon", [2, 3, 64, 65, 1000, 1024, 1025])
@pytest.mark.parametrize("arms", [2, 3])
def test_tree_equals_chain(arms, horizon):
    if horizon < arms:
        pytest.skip("dp_ucb needs a round per arm")
    algorithm = build("dp_ucb", arms, horizon)
    tree, chain = deepest_row(algorithm, horizon), longest_chains(algorithm, horizon, float("inf"))
    assert tree.charge == chain.charge
    levels = (horizon - 1).bit_length()
    deepest = max(horizon - arms, 1 if horizon > 1 else 0).bit_length()
    assert tree.charge == Fraction(deepest, levels)


MANY_STATES = ("dp_se", "dp_ucb", "adap_tt", "dp_linear")  # walked by a theorem, not state by state


@pytest.mark.parametrize("name", [name for name in PRIVATE if name not in MANY_STATES])
def test_walk_equals_chain_at_full_size(name):
    algorithm = build(name, 2, 10**7)
    found = bound(algorithm, 10**7)
    assert "public states" in found.how
    assert found.charge == longest_chains(algorithm, 10**7, float("inf")).charge == 1


def test_the_number_of_nodes_is_the_number_of_public_states():
    """Charges in the key cost nothing for doubling episodes: three kinds of states per count."""
    from dpaudit.structure.walk import Walk

    walk = Walk(build("adap_ucb", 2, 10**5), 10**5)
    walk.run(float("inf"), float("inf"))
    assert len({key[0] for key in walk.seen}) == len(walk.seen)
    assert max(len(runs) for key in walk.seen for runs in key[2]) == 2


@given(
    st.lists(st.lists(st.tuples(st.integers(1, 3), st.fractions(0, 3)), max_size=3), max_size=3),
    st.integers(1, 6),
)
def test_a_person_is_charged_what_the_heaviest_rows_are(arms, unit):
    """Runs of rows that are charged alike, against the rows one by one."""
    rows = sorted(charge for own in arms for count, charge in own for _ in range(count))
    runs = []
    for own in arms:
        stops = accumulate(count for count, _ in own)
        runs.append([(stop, charge) for stop, (_, charge) in zip(stops, own, strict=True)])
    assert heaviest(runs, unit).charge == sum(rows[-unit:])
