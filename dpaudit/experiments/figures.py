"""The pictures of the experiments as PNG and SVG, and their numbers as CSV beside them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import plotting
from dpaudit.core import divergence
from dpaudit.core.environments import NAMED
from dpaudit.experiments.panels import SHOWN, Panel, Record
from dpaudit.output import write_text


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of numbers whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def draw(panel: Panel, record: Record, folder: Path) -> None:
    """Draw a panel in the way its experiment asks for."""
    if panel.name == "regimes":
        _draw_regimes(panel, record, folder)
    else:
        _draw_curves(panel, record, folder)


def _save(canvas: Any, folder: Path, name: str) -> None:
    for suffix in (".png", ".svg"):
        plotting.save(canvas, folder / f"{name}{suffix}")


def _draw_curves(panel: Panel, record: Record, folder: Path) -> None:
    canvas, axes = plotting.figure()
    rows: list[tuple[Any, ...]] = []
    for i, (label, sample) in enumerate(record.items()):
        mean, spread = sample.curves.mean(axis=0), sample.curves.std(axis=0)
        rows += [
            (label, int(t), f"{m:.10g}", f"{s:.10g}", panel.runs)
            for t, m, s in zip(sample.times, mean, spread, strict=True)
        ]
        name, _, rest = label.partition(" ")
        shown = SHOWN[name] + (f", α = {rest}" if rest else "")
        plotting.draw_curve(axes, sample.times, sample.curves, shown, *_look(panel, i))
    epsilon = dict(panel.cells[0].values)["epsilon"]
    title = f"{panel.environment}, ε = {epsilon:g}, {panel.runs} runs"
    plotting.label_curves(axes, title)
    _save(canvas, folder, panel.name)
    header = ("algorithm", "time", "regret_mean", "regret_std", "runs")
    write_csv(folder / f"{panel.name}.csv", header, rows)


def _look(panel: Panel, i: int) -> tuple[str, str]:
    if panel.name != "alpha":
        return plotting.COLOURS[i], plotting.DASHES[i]
    half = len(panel.cells) // 2
    return plotting.COLOURS[i % half], "--" if i < half else "-"


def lower_bounds(means: Sequence[float], epsilon: float, horizon: int) -> tuple[float, float]:
    """Return the asymptotic lower bounds on regret at log T: the paper's, and that of d_epsilon.

    The paper's (Theorem on problem-dependent regret): sum of gap log T / min(d, 6 epsilon gap).
    arXiv 2505.05613: sum of gap log T / d_epsilon(mu, largest mu).
    """
    best = max(means)
    worse = np.array([mean for mean in means if mean < best])
    gaps = best - worse
    paper = gaps / np.minimum(divergence.bernoulli(worse, best), 6 * epsilon * gaps)
    sharp = gaps / divergence.private_bernoulli(worse, best, epsilon)
    log_horizon = math.log(horizon)
    return float(paper.sum() * log_horizon), float(sharp.sum() * log_horizon)


def _draw_regimes(panel: Panel, record: Record, folder: Path) -> None:
    means = NAMED[panel.environment]
    epsilons = np.array([float(label) for label in record])
    mean = np.array([sample.mean for sample in record.values()])
    spread = np.array([sample.regrets.std() for sample in record.values()])
    error = np.array([sample.error for sample in record.values()])
    bounds = np.array([lower_bounds(means, e, panel.horizon) for e in epsilons])
    canvas, axes = plotting.figure()
    axes.plot(epsilons, mean, "o-", color=plotting.COLOURS[0], label="AdaP-KLUCB")
    axes.fill_between(epsilons, mean - spread, mean + spread, color=plotting.COLOURS[0], alpha=0.15)
    axes.plot(
        epsilons, bounds[:, 0], "--", color=plotting.COLOURS[1], label="lower bound: min(d, 6 ε t)"
    )
    axes.plot(epsilons, bounds[:, 1], ":", color=plotting.COLOURS[2], label="lower bound: d_ε")
    axes.axvline(0.3, color="0.6", linewidth=1, label="ε = 0.3 (regime boundary of the paper)")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("privacy budget ε")
    axes.set_ylabel(f"regret at T = {panel.horizon:.0e} (mean ± one standard deviation)")
    axes.set_title(f"means {', '.join(f'{m:g}' for m in means)}; {panel.runs} runs")
    axes.legend(frameon=False, fontsize="small")
    _save(canvas, folder, panel.name)
    write_csv(
        folder / f"{panel.name}.csv",
        ("epsilon", "regret_mean", "regret_std", "standard_error", "bound_paper", "bound_sharp"),
        [
            tuple(f"{x:.10g}" for x in row)
            for row in zip(epsilons, mean, spread, error, *bounds.T, strict=True)
        ],
    )
