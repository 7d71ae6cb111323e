"""The pictures of the experiments as PNG and SVG, and their numbers as CSV beside them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import plotting
from dpaudit.core.environments import NAMED
from dpaudit.experiments.panels import ALPHAS, SHOWN, Panel, Record, Records
from dpaudit.output import write_text
from dpaudit.regret_bounds.bound import bernoulli
from dpaudit.regret_bounds.lower import coefficients

DECADES = 10**5  # the last five of the horizon: before them all are alike


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows of numbers whole or not at all."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def draw(panel: Panel, record: Record, folder: Path) -> None:
    """Draw a panel in the way its experiment asks for, and write its numbers beside it."""
    if panel.name == "regimes":
        _draw_regimes(panel, record, folder)
        return
    if panel.name == "alpha":
        canvas = _draw_alpha(panel, record)
    else:
        canvas, axes = plotting.figure()
        _compare(axes, record)
        epsilon = dict(panel.cells[0].values)["epsilon"]
        title = f"{panel.environment}, ε = {epsilon:g}, {panel.runs} runs"
        plotting.label_curves(axes, title)
    _save(canvas, folder, panel.name)
    header = ("algorithm", "time", "regret_mean", "regret_std", "runs")
    write_csv(folder / f"{panel.name}.csv", header, _rows(panel, record))


def draw_together(
    environment: str, panels: Sequence[Panel], records: Records, folder: Path
) -> None:
    """Draw the panels of one environment on one sheet, in the order of the paper's figures.

    All have the same scales, so that the columns can be compared at a glance.
    """
    canvas, grid = plotting.sheet(2, 2, 9.6, 7.2)
    for axes, panel in zip(grid, panels, strict=True):
        _compare(axes, records[panel.name])
        epsilon = dict(panel.cells[0].values)["epsilon"]
        plotting.label_curves(axes, f"ε = {epsilon:g}")
        axes.get_legend().remove()
        axes.set(ylabel="", xlim=(max(1.0, panel.horizon / DECADES), panel.horizon))
    for axes in grid[:2]:
        axes.set_xlabel("")
    names, means = grid[0].get_legend_handles_labels(), NAMED[environment]
    canvas.legend(*names, frameon=False, loc="outside lower center", ncols=4)
    canvas.supylabel("regret (mean ± one standard deviation)")
    shown = ", ".join(f"{mean:g}" for mean in means)
    canvas.suptitle(f"{environment}: means {shown}; {panels[0].runs} runs")
    _save(canvas, folder, f"comparison_{environment}")


def _save(canvas: Any, folder: Path, name: str) -> None:
    for suffix in (".png", ".svg"):
        plotting.save(canvas, folder / f"{name}{suffix}")


def _rows(panel: Panel, record: Record) -> Iterator[tuple[Any, ...]]:
    for label, sample in record.items():
        mean, spread = sample.curves.mean(axis=0), sample.curves.std(axis=0)
        for t, m, s in zip(sample.times, mean, spread, strict=True):
            yield label, int(t), f"{m:.10g}", f"{s:.10g}", panel.runs


def _compare(axes: Any, record: Record) -> None:
    looks = zip(record.items(), plotting.COLOURS, plotting.DASHES, strict=False)
    for (label, sample), colour, dash in looks:
        plotting.draw_curve(axes, sample.times, sample.curves, SHOWN[label], colour, dash)


def _draw_alpha(panel: Panel, record: Record) -> Any:
    """Return the curves of either algorithm beside each other, where they have come apart."""
    from matplotlib import colormaps

    canvas, grid = plotting.sheet(1, 2, 9.6, 4.4)
    shades = colormaps["viridis_r"](np.linspace(0.15, 1.0, len(ALPHAS)))
    for number, (label, sample) in enumerate(record.items()):
        name, _, alpha = label.partition(" ")
        axes = grid[number // len(ALPHAS)]
        axes.set_title(SHOWN[name])
        look = (f"α = {alpha}", shades[number % len(ALPHAS)], "-")
        plotting.draw_curve(axes, sample.times, sample.curves, *look)
    for axes in grid:
        axes.set(xscale="log", xlabel="round t", xlim=(panel.horizon / DECADES * 10, panel.horizon))
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        handles, names = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], names[::-1], frameon=False, fontsize="small", loc="upper left")
    grid[0].set_ylabel("regret (mean ± one standard deviation)")
    canvas.suptitle(f"{panel.environment}, ε = 1, {panel.runs} runs, where the curves come apart")
    return canvas


def _draw_regimes(panel: Panel, record: Record, folder: Path) -> None:
    means = NAMED[panel.environment]
    epsilons = np.array([float(label) for label in record])
    mean = np.array([sample.mean for sample in record.values()])
    spread = np.array([sample.regrets.std() for sample in record.values()])
    error = np.array([sample.error for sample in record.values()])
    found = [coefficients(bernoulli(means), float(e)) for e in epsilons]
    bounds = np.log(panel.horizon) * np.array([(it.paper, it.sharp) for it in found])
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
    axes.set_ylabel(f"regret at T = {panel.horizon:,} (mean ± one standard deviation)")
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
