"""Accounting beside dp_accounting, claims beside what is proved and attained, and groups.

    python benchmarks/notions.py ledgers     twenty ledgers (needs: pip install dp-accounting)
    python benchmarks/notions.py table       claimed, proved, attained (certified), sampled
    python benchmarks/notions.py groups      k = 1..5 rewards of a person
    python benchmarks/notions.py gaussian    certified Gaussian likelihoods: width and seconds by T

A ledger is what one reward pays on the worst transcript: some releases of a law. dp_accounting
composes their privacy loss distributions; its optimistic estimate is a lower bound on the truth,
below which no delta of ours may lie.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from fractions import Fraction

from dpaudit import load
from dpaudit.core import conversions
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import find
from dpaudit.core.noise import Gaussian, Laplace, Noise
from dpaudit.core.notions import Kind, Notion, Tariff
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import law, refuting
from dpaudit.exact.attained import Pairs
from dpaudit.exact.horizons import judge as horizons_judge
from dpaudit.exact.horizons import sizes
from dpaudit.exact.likelihood import Engine, likelihood
from dpaudit.exact.paths import path_along
from dpaudit.exact.sequences import Steered
from dpaudit.report import at_least
from dpaudit.sample.audit import audit
from dpaudit.sample.boxes import DeclaredBox
from dpaudit.sample.plan import AuditPlan
from dpaudit.sample.streams import candidates
from dpaudit.structure.accounting import judge
from dpaudit.structure.prove import bound

ONE = Fraction(1)
LEDGERS: list[tuple[str, Noise, int]] = [
    *((f"Gaussian sigma {s} x{n}", Gaussian(variance=Fraction(s) ** 2), n)
      for s, n in ((1, 1), (2, 1), (2, 4), (5, 10), (8, 24), ("0.5", 1), (10, 100), (3, 2))),
    *((f"Laplace scale {b} x{n}", Laplace(Fraction(b)), n)
      for b, n in ((1, 1), (2, 1), ("0.5", 1), (2, 2), (3, 3), (10, 10), (20, 20), (24, 24),
                   (50, 24), (5, 4), (100, 100), (4, 1))),
]  # fmt: skip


def ours(noise: Noise, times: int, epsilon: Fraction) -> tuple[str, Fraction]:
    """Return the best accounting of a ledger and its delta."""
    ways = {
        "mu": conversions.gdp_to_delta(times * noise.gdp(ONE), epsilon),
        "rho": conversions.zcdp_to_delta(times * noise.zcdp(ONE), epsilon),
        "epsilon": conversions.pure_to_delta(times * noise.charge(ONE), epsilon),
    }
    if times == 1:
        ways["one release"] = noise.delta(ONE, epsilon)
    best = min(ways, key=lambda name: ways[name])
    return best, ways[best]


def ledgers() -> int:
    """Print our delta beside the interval of dp_accounting; return how often ours lies below it."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    wrong = 0
    print("| ledger | epsilon' | ours | by | dp_accounting | ratio |\n|---|---|---|---|---|---|")
    for name, noise, times in LEDGERS:
        epsilon = Fraction(1, 2)
        best, delta = ours(noise, times, epsilon)
        made: Callable[..., object] = (
            pld.from_gaussian_mechanism
            if isinstance(noise, Gaussian)
            else pld.from_laplace_mechanism
        )
        ends = []
        for pessimistic in (False, True):
            one = made(  # type: ignore[call-arg]
                noise.spread(),
                pessimistic_estimate=pessimistic,
                value_discretization_interval=1e-4,
                use_connect_dots=False,
            )
            ends.append(one.self_compose(times).get_delta_for_epsilon(float(epsilon)))  # type: ignore[attr-defined]
        low, high = ends
        wrong += float(delta) < low * (1 - 1e-9) - 1e-14
        ratio = float(delta) / high if high > 0 else float(delta == 0)
        cells = [name, "0.5", f"{float(delta):.6g}", best, f"{low:.6g} .. {high:.6g}"]
        print(f"| {' | '.join(cells)} | {ratio:.3f} |")
    print(f"\n{len(LEDGERS)} ledgers; below the truth: {wrong}.")
    return wrong


ALGORITHMS = (
    *("adap_ucb", "lazy_dp_ucb", "dp_ucb", "dp_se", "dp_greedy", "adap_tt", "dp_linear"),
    *("adac_ucb", "zcdp_se", "zcdp_linear", "dp_gaussian_ts", "ldp_ucb_b", "ldp_ucb_l"),
)


def built(name: str, horizon: int) -> Algorithm:
    """Return an algorithm of two arms, told its horizon if it asks for one."""
    return load(name, arms=2, **({"horizon": horizon} if find(name).told() else {}))


def attained(name: str, notion: Notion, seconds: float = 20.0) -> str:
    """Return the largest certified value found; what is only measured is named so."""
    end = time.monotonic() + seconds
    horizons = list(sizes(2, 10**6))

    def build(size: int) -> Algorithm:
        return built(name, size)

    if notion.plain:
        found = horizons_judge(build, build(10**6), notion.level, horizons, seconds)
        shown = [(it.epsilon_lower, it.certified, it.horizon) for it in found]
    else:
        found = refuting.judge(build, build(10**6), notion, horizons, seconds)
        shown = [
            (it.bracket.lower, it.bracket.certified, it.horizon)
            for it in found
            if it.bracket is not None
        ]
    shown += _short(build, notion, end + seconds)
    best = max((it for it in shown if it[0] > 0 and it[1]), default=None)
    best = best or max((it for it in shown if it[0] > 0), default=None)
    if best is None:
        return f"none ({found[0].reason})" if found else "none"
    measured = "" if best[1] else " (floating point)"
    return f"{at_least(best[0], 4)}{measured}, T = {best[2]:,}"


def _short(
    build: Callable[[int], Algorithm], notion: Notion, end: float
) -> list[tuple[float, bool, int]]:
    """Return what binary streams of three rounds attain, which more engines certify."""
    try:
        found, _ = Pairs(build(3), 3, notion, "ball", end).binary()
    except (Unsupported, InvalidArgument):
        return []
    return [] if found is None else [(found.value.lower, found.value.certified, 3)]


def sampled(name: str, notion: Notion, claimed: float, horizon: int = 64, runs: int = 3_000) -> str:
    """Return the lower bound of an audit, wrong with probability at most 1e-3."""
    if notion.kind not in (Kind.PURE, Kind.APPROXIMATE, Kind.LOCAL):
        return "not judged"
    algorithm = built(name, horizon)
    pairs = tuple(candidates(2, horizon, [0, 2])[:8])
    delta = min(max(claimed, 1e-3), 0.9) if notion.kind is Kind.APPROXIMATE else 0.0
    plan = AuditPlan(DeclaredBox(algorithm, horizon), notion.level, 1e-3, runs, 0, pairs, delta)
    return at_least(audit(plan).lower, 3)


def table(horizon: int = 10**6) -> None:
    """Print what is claimed, proved, attained and sampled, for every algorithm and notion."""
    print("| algorithm | notion | claimed | proved at 10^6 | attained, certified | sampled |")
    print("|---|---|---|---|---|---|")
    for name in ALGORITHMS:
        algorithm = built(name, horizon)
        own = algorithm.claim.notion
        for notion in dict.fromkeys(
            (own, Notion(Kind.ZCDP, 0.5), Notion(Kind.APPROXIMATE, 0.5, 0.5))
        ):
            assert notion is not None
            claimed = f"{notion.bound:g}" if notion == own else "-"
            if notion.plain:
                upper = float(bound(algorithm, horizon, 30.0).charge)
            else:
                found = judge(algorithm, horizon, notion, 30.0)
                upper = found.bracket.upper if found.bracket else float("inf")
            proved = f"{upper:.6g}" if upper < float("inf") else "-"
            said = (
                f"{notion.measure} at epsilon 0.5"
                if notion.delta
                else f"{notion.kind} {notion.measure}"
            )
            cells = (
                name,
                said,
                claimed,
                proved,
                attained(name, notion),
                sampled(name, notion, upper),
            )
            print(f"| {' | '.join(cells)} |", flush=True)


def groups(horizon: int = 10**6, small: int = 5) -> None:
    """Print what k rewards of a person are charged, and what a pair of short streams attains."""
    print("| algorithm | k | charged | k epsilon | attained at T = 5 |\n|---|---|---|---|---|")
    for name in ("adap_ucb", "dp_ucb"):
        told = {"horizon": horizon} if name == "dp_ucb" else {}
        algorithm = load(name, arms=2, **told)
        brief = load(name, arms=2, **({"horizon": small} if told else {}))
        for unit in range(1, 6):
            charge = bound(algorithm, horizon, 60.0, tariff=Tariff(Kind.PURE, unit)).charge
            notion, end = Notion(Kind.PURE, 1.0, unit=unit), time.monotonic() + 60
            # sums of releases are certified slowly, as nets
            engine: Engine = "float" if told else "ball"
            pairs = Pairs(brief, small, notion, engine, end)
            try:
                found, _ = pairs.binary()
                low = f"{found.value.lower:.6g}" if found else "-"
                low += " (doubles)" * bool(told)
            except Exception as error:
                low = type(error).__name__
            print(f"| {name} | {unit} | {float(charge):.6g} | {unit} | {low} |")


def gaussian() -> None:
    """Print the widest log-likelihood of a law and the seconds of it, by horizon."""
    algorithm = load("adac_ucb", arms=2)
    print("| T | action sequences | widest log-likelihood | seconds |\n|---|---|---|---|")
    for horizon in (3, 4, 5, 6, 8, 10):
        start = time.monotonic()
        found = law(algorithm, [float(i % 3 > 0) for i in range(horizon)])
        width = max(p.log_upper - p.log_lower for p in found.probabilities.values())
        spent = time.monotonic() - start
        print(f"| {horizon} | {len(found.probabilities)} | {width:.1e} | {spent:.1f} |")
    for horizon in (33, 129, 1025):
        start = time.monotonic()
        path = path_along(algorithm, horizon, Steered(horizon, 0, 2, 0, 0).decide())
        one = likelihood(algorithm, path.actions, [0.5] * horizon)
        spent = time.monotonic() - start
        print(f"| {horizon:,} | one | {one.log_upper - one.log_lower:.1e} | {spent:.1f} |")


if __name__ == "__main__":
    chosen = {"ledgers": ledgers, "table": table, "groups": groups, "gaussian": gaussian}
    for word in sys.argv[1:] or chosen:
        chosen[word]()
        print()
