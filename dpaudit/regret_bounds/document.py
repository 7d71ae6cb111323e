"""Bounds, regimes and simulations of one instance as plain data, for tables and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpaudit.core.environments import Bernoulli
from dpaudit.core.simulate import simulate
from dpaudit.output import progress
from dpaudit.regret_bounds import regimes
from dpaudit.regret_bounds.bound import Instance, RegretBound
from dpaudit.regret_bounds.clipped import ClippedLinear
from dpaudit.regret_bounds.episodes import HoeffdingIndex
from dpaudit.regret_bounds.linear import LinearInstance
from dpaudit.regret_bounds.linear_table import linear_bounds
from dpaudit.regret_bounds.measured import Measured, beside, build, measure, run
from dpaudit.regret_bounds.table import ALGORITHMS, Setting, stochastic

LINEAR_ALGORITHM = "adap_ucb"


class TableInterrupted(KeyboardInterrupt):
    """Ctrl-C beside a table: `document` holds the bounds and the simulations that were finished."""

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__()
        self.document = document


def describe(
    name: str,
    instance: Instance,
    setting: Setting,
    algorithms: Sequence[str],
    runs: int,
    seed: int,
    jobs: int,
) -> dict[str, Any]:
    """Return everything about a stochastic instance; simulations only where runs > 0."""
    bounded = [algorithm for algorithm in algorithms if algorithm in ALGORITHMS]
    document: dict[str, Any] = {
        "instance": name,
        "means": list(instance.means),
        "epsilon": setting.epsilon,
        "horizon": setting.horizon,
        "alpha": setting.alpha,
        "bounds": stochastic(instance, setting, bounded),
        "unbounded": [algorithm for algorithm in algorithms if algorithm not in ALGORITHMS],
        "regimes": {
            "arms": regimes.per_arm(instance),
            "regime": regimes.words(instance, setting.epsilon),
            "minimax": regimes.minimax(instance.arms, setting.horizon),
        },
        "measured": [],
    }
    if runs:
        environment = Bernoulli(instance.means)
        with progress(f"simulate {name}", total=runs * len(algorithms)) as advance:
            for algorithm in algorithms:
                try:
                    result = run(algorithm, environment, setting, runs, seed, jobs, advance)
                except KeyboardInterrupt:
                    raise TableInterrupted(document) from None
                document["measured"].append(_measured(measure(instance, setting, result)))
    return document


def describe_notion(
    name: str, instance: Instance, said: str, horizon: int, bounds: list[RegretBound]
) -> dict[str, Any]:
    """Return the lower bounds of another notion than pure epsilon."""
    document = {"instance": name, "means": list(instance.means), "claim": said, "horizon": horizon}
    return document | {"bounds": bounds, "measured": []}


def _measured(found: Measured) -> dict[str, Any]:
    return {**vars(found), "verdict": found.verdict}


def describe_linear(
    instance: LinearInstance, setting: Setting, runs: int, seed: int, jobs: int
) -> dict[str, Any]:
    """Return everything about a linear instance, with AdaP-UCB on clipped rewards as a run."""
    bounds, found = linear_bounds(instance, setting)
    paper, right = regimes.linear_minimax(setting.horizon)
    document: dict[str, Any] = {
        "instance": "linear",
        "features": instance.features,
        "theta": instance.theta,
        "means": list(instance.environment.means),
        "orthogonal": instance.orthogonal,
        "epsilon": setting.epsilon,
        "horizon": setting.horizon,
        "bounds": bounds,
        "structural": {
            "arms": instance.others,
            "rho": found.rho,
            "rho_valid": found.rho_valid,
            "alternatives": found.sharp.alternatives,
            "multipliers": found.sharp.multipliers,
            "allocation": found.sharp.alpha,
        },
        "regimes": {"minimax_linear": {"paper": paper, "right": right}},
        "measured": [],
    }
    if runs:
        algorithm = build(LINEAR_ALGORITHM, len(instance.features), setting)
        with progress(f"simulate {algorithm.name}", total=runs) as advance:
            clipped = ClippedLinear(instance)
            try:
                result = simulate(algorithm, clipped, setting.horizon, runs, seed, jobs, advance)
            except KeyboardInterrupt:
                raise TableInterrupted(document) from None
        gaps = instance.environment.gaps
        index = HoeffdingIndex(setting.epsilon, setting.alpha, setting.alpha)
        upper = index.regret(clipped.means, setting.horizon, gaps)
        name, regrets = f"{LINEAR_ALGORITHM}, clipped rewards", result.pulls_per_run @ gaps
        shown = beside(name, setting, regrets, found.refined, None, upper)
        document["measured"].append(_measured(shown))
    return document
