"""Panels: the unit of an experiment that is run once, kept, and never run twice.

A panel is a set of simulations drawn into one picture. Its record, a JSON file beside the picture,
holds the parameters that made it; a rerun with the same parameters reads the record instead of
simulating. Section 6 and the appendix of Azize and Basu (2022): 16 comparisons (C1..C4 by epsilon),
regret against epsilon for means .8 .1 .1 .1 .1, regret for several alpha on C1.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpaudit import __version__
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import find, load, parameters
from dpaudit.core.environments import named
from dpaudit.core.simulate import expected_seconds, simulate
from dpaudit.output import write_text

ENVIRONMENTS = ("C1", "C2", "C3", "C4")
BUDGETS = (0.1, 0.25, 0.5, 1.0)
SHOWN = {
    "dp_ucb": "DP-UCB",
    "dp_se": "DP-SE",
    "adap_ucb": "AdaP-UCB",
    "adap_klucb": "AdaP-KLUCB",
}
ALPHAS = (1.0, 1.5, 2.0, 3.1, 4.0)
REGIME_BUDGETS = tuple(round(float(e), 4) for e in np.geomspace(0.05, 10, 18))


@dataclass(frozen=True)
class Cell:
    """One simulation of a panel: an algorithm by name, with its parameters."""

    label: str
    algorithm: str
    values: tuple[tuple[str, float], ...]

    def seed(self, panel: str, seed: int) -> int:
        """Return a seed of its own, so that the samples of different cells are independent."""
        place = zlib.crc32(f"{panel}/{self.label}".encode())
        return int(np.random.SeedSequence([seed, place]).generate_state(1, np.uint64)[0])


@dataclass(frozen=True)
class Panel:
    """Simulations of one picture; its name is the name of its files."""

    name: str
    environment: str
    cells: tuple[Cell, ...]
    horizon: int
    runs: int
    seed: int

    def key(self) -> dict[str, Any]:
        """Return everything that the numbers depend on, as plain data."""
        cells = [[cell.label, cell.algorithm, dict(cell.values)] for cell in self.cells]
        return {
            "version": __version__,
            "panel": self.name,
            "environment": self.environment,
            "cells": cells,
            "horizon": self.horizon,
            "runs": self.runs,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class CellRuns:
    """The runs of one cell: curves[run, time]; the last column is the regret at the horizon."""

    times: NDArray[np.int64]
    curves: NDArray[np.float64]

    @property
    def regrets(self) -> NDArray[np.float64]:
        """The regret of every run at the horizon."""
        return np.asarray(self.curves[:, -1])

    @property
    def mean(self) -> float:
        """The mean regret at the horizon."""
        return float(self.regrets.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        runs = len(self.regrets)
        return float(self.regrets.std(ddof=1) / np.sqrt(runs)) if runs > 1 else float("inf")

    def late_growth(self) -> NDArray[np.float64]:
        """Return what at least the last fifth of the horizon added to the regret of every run."""
        start = int(np.searchsorted(self.times, 0.8 * self.times[-1], side="right")) - 1
        return np.asarray(self.curves[:, -1] - self.curves[:, start])


Record = dict[str, CellRuns]
Records = Mapping[str, Record]


def comparison(horizon: int, runs: int, seed: int) -> list[Panel]:
    """Return the 16 panels of four algorithms."""
    return [
        Panel(
            name=f"comparison_{environment}_epsilon_{epsilon:g}",
            environment=environment,
            cells=tuple(Cell(name, name, (("epsilon", epsilon),)) for name in SHOWN),
            horizon=horizon,
            runs=runs,
            seed=seed,
        )
        for environment in ENVIRONMENTS
        for epsilon in BUDGETS
    ]


def regimes(horizon: int, runs: int, seed: int) -> list[Panel]:
    """Return the panel of AdaP-KLUCB's regret against epsilon."""
    cells = tuple(Cell(f"{e:g}", "adap_klucb", (("epsilon", e),)) for e in REGIME_BUDGETS)
    return [Panel("regimes", "regimes", cells, horizon, runs, seed)]


def alpha(horizon: int, runs: int, seed: int) -> list[Panel]:
    """Return the panel of several exploration parameters on C1 at epsilon = 1."""
    cells = tuple(
        Cell(f"{name} {a:g}", name, (("epsilon", 1.0), ("alpha", a)))
        for name in ("adap_ucb", "adap_klucb")
        for a in ALPHAS
    )
    return [Panel("alpha", "C1", cells, horizon, runs, seed)]


EXPERIMENTS: dict[str, Callable[[int, int, int], list[Panel]]] = {
    "comparison": comparison,
    "regimes": regimes,
    "alpha": alpha,
}


def _built(cell: Cell, arms: int, horizon: int) -> Algorithm:
    told = {"horizon": horizon} if "horizon" in parameters(find(cell.algorithm)) else {}
    return load(cell.algorithm, arms=arms, **dict(cell.values), **told)


def expected(panel: Panel, jobs: int) -> float:
    """Return about how many seconds a panel takes; those of the same algorithm take the same."""
    environment = named(panel.environment)
    seconds: dict[str, float] = {}
    for cell in panel.cells:
        if cell.algorithm not in seconds:
            seconds[cell.algorithm] = expected_seconds(
                partial(_built, cell, environment.arms),
                environment,
                panel.horizon,
                panel.runs,
                jobs,
            )
    return sum(seconds[cell.algorithm] for cell in panel.cells)


def run(panel: Panel, jobs: int, advance: Callable[[int], None]) -> Record:
    """Simulate every cell of a panel."""
    environment = named(panel.environment)
    record: Record = {}
    for cell in panel.cells:
        algorithm = _built(cell, environment.arms, panel.horizon)
        seed = cell.seed(panel.name, panel.seed)
        result = simulate(algorithm, environment, panel.horizon, panel.runs, seed, jobs, advance)
        record[cell.label] = CellRuns(result.times, result.curves)
    return record


def keep(panel: Panel, record: Record, folder: Path) -> None:
    """Write the record of a finished panel."""
    cells = {
        label: {"times": sample.times.tolist(), "curves": sample.curves.tolist()}
        for label, sample in record.items()
    }
    text = json.dumps({"key": panel.key(), "cells": cells}) + "\n"
    write_text(folder / f"{panel.name}.json", text, '{"key": ')


def kept(panel: Panel, folder: Path) -> Record | None:
    """Return the record of a panel that was finished with the same parameters, or None."""
    try:
        data = json.loads((folder / f"{panel.name}.json").read_text())
        if data["key"] != json.loads(json.dumps(panel.key())):
            return None
        return {
            label: CellRuns(np.array(cell["times"]), np.array(cell["curves"]))
            for label, cell in data["cells"].items()
        }
    except (OSError, ValueError, KeyError, TypeError):
        return None
