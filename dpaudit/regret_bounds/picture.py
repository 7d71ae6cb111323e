"""The picture of regret against epsilon or against T, with every bound and the regimes.

Colour says whom a line is about (black: every private policy; one colour per algorithm), the dash
says the form (dotted: as the paper prints it; solid: the sharpest established; the table has the
others). Dots are simulated means with bars of two standard errors. Shading: the right thresholds,
darkest where privacy costs. The legend has one entry per algorithm and two or three more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit import plotting
from dpaudit.core.environments import Bernoulli
from dpaudit.errors import InvalidArgument
from dpaudit.output import progress
from dpaudit.regret_bounds import lower, regimes
from dpaudit.regret_bounds.bound import BoundForm, BoundSide, Instance, RegretBound, Scope
from dpaudit.regret_bounds.measured import run
from dpaudit.regret_bounds.table import ALGORITHMS, Setting, stochastic

BLACK = "#000000"
POINTS = 50
SIMULATED = 12
SHARPEST = ("episode by episode", "problem-dependent, d_epsilon", "explicit, as declared")
SHADES = ("#d9d9d9", "#eeeeee", "#ffffff")


def draw(
    instance: Instance,
    setting: Setting,
    algorithms: Sequence[str],
    runs: int,
    seed: int,
    jobs: int,
    destination: str,
    against: str,
    span: tuple[float, float] | None,
) -> None:
    """Simulate, evaluate every bound along the axis, and write the picture."""
    low, high = span or ((0.05, 10.0) if against == "epsilon" else (1e3, float(setting.horizon)))
    if against == "horizon" and low < instance.arms:
        raise InvalidArgument("range", low, f"must begin at {instance.arms} rounds or later.")
    grid = np.geomspace(low, high, POINTS)
    canvas, axes = plotting.figure()
    axes.set_xscale("log")
    axes.set_yscale("log")
    _shade(axes, instance, setting, against, low, high)
    known = [algorithm for algorithm in algorithms if algorithm in ALGORITHMS]
    _lines(axes, instance, [_at(setting, against, x) for x in grid], grid, known)
    _dots(axes, instance, setting, algorithms, runs, seed, jobs, against, (low, high))
    _label(axes, instance, setting, against, low, high)
    # a figure legend is what the layout makes room for; one of the axes can squeeze them to nothing
    canvas.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=2)
    canvas.set_size_inches(9.5, 5.6)
    plotting.save(canvas, Path(destination))


def _at(setting: Setting, against: str, x: float) -> Setting:
    if against == "epsilon":
        return replace(setting, epsilon=float(x))
    return replace(setting, horizon=round(x))


def _shade(
    axes: Any, instance: Instance, setting: Setting, against: str, low: float, high: float
) -> None:
    if against == "epsilon" and not regimes.known(instance):
        return
    if against == "epsilon":
        first, last = regimes.edges(instance, "right")
        marks = (low, min(max(first, low), high), min(max(last, low), high), high)
        names = ("high privacy", "mixed", "low privacy")
        for start, stop, shade, name in zip(marks, marks[1:], SHADES, names, strict=False):
            if stop > start:
                axes.axvspan(start, stop, color=shade, zorder=0, linewidth=0)
                axes.text(math.sqrt(start * stop), 1.005, name, ha="center", va="bottom",
                          fontsize=8, transform=axes.get_xaxis_transform())  # fmt: skip
        label: str | None = "thresholds (dotted: paper)"
        for name, style in (("right", "-"), ("paper", ":")):
            for edge in sorted(set(regimes.edges(instance, name))):
                if low < edge < high:
                    axes.axvline(edge, linestyle=style, color="#777777", linewidth=1, label=label)
                    label = None
        return
    change = math.pi / 2 * (instance.arms - 1) / math.tanh(setting.epsilon / 2) ** 2
    if change > low:
        axes.axvspan(low, min(change, high), color=SHADES[0], zorder=0, linewidth=0,
                     label="minimax: privacy dominates")  # fmt: skip


def _lines(
    axes: Any, instance: Instance, settings: Sequence[Setting], grid: Any, algorithms: Sequence[str]
) -> None:
    columns: dict[tuple[str, str, str, str], list[float]] = {}
    kinds: dict[tuple[str, str, str, str], RegretBound] = {}
    for setting in settings:
        for bound in filter(_drawn, stochastic(instance, setting, algorithms)):
            key = (bound.algorithm, str(bound.side), bound.name, str(bound.form))
            columns.setdefault(key, []).append(bound.value)
            kinds[key] = bound
    colours = dict(zip(algorithms, plotting.COLOURS, strict=False))
    for key, values in columns.items():
        bound = kinds[key]
        heights = np.where(np.isfinite(values) & (np.array(values) > 0), values, np.nan)
        if np.all(np.isnan(heights)):
            continue
        form = "paper" if bound.form is BoundForm.PAPER else "sharpest"
        axes.plot(grid, heights, linewidth=1.7, alpha=0.9,
                  linestyle=":" if bound.form is BoundForm.PAPER else "-",
                  color=colours.get(bound.algorithm, BLACK),
                  label=None if bound.algorithm else f"every private policy, in the limit ({form})",
                  )  # fmt: skip


def _drawn(bound: RegretBound) -> bool:
    """Tell whether a bound has a line: the sharpest of its kind, and what the paper prints."""
    if bound.name in SHARPEST:
        return True
    side = BoundSide.UPPER if bound.algorithm else BoundSide.LOWER
    usual = bound.scope not in (Scope.MINIMAX, Scope.ORDER) and bound.side is side
    other = bound.name.startswith(("gap-free", "without privacy"))
    return bound.form is BoundForm.PAPER and usual and not other


def _dots(
    axes: Any,
    instance: Instance,
    setting: Setting,
    algorithms: Sequence[str],
    runs: int,
    seed: int,
    jobs: int,
    against: str,
    span: tuple[float, float],
) -> None:
    environment = Bernoulli(instance.means)
    places = np.geomspace(*span, SIMULATED)
    with progress("simulate", total=len(algorithms) * SIMULATED * runs) as advance:
        for i, algorithm in enumerate(algorithms):
            means, errors = [], []
            for x in places:
                here = _at(setting, against, x)
                result = run(algorithm, environment, here, runs, seed, jobs, advance)
                # a regret of 0 has no place on a scale of logarithms
                means.append(float(result.regrets.mean()) or math.nan)
                errors.append(2 * result.standard_error if runs > 1 else 0.0)
            colour = plotting.COLOURS[i % len(plotting.COLOURS)]
            axes.errorbar(
                places,
                means,
                yerr=errors,
                fmt="os^Dv"[i % 5],
                markersize=10 - 2 * (i % 4),  # later markers fit inside earlier ones
                markerfacecolor="none",
                markeredgewidth=1.8,
                capsize=3,
                color=colour,
                zorder=5,
                clip_on=False,
                label=f"{algorithm}: simulated, and its upper bounds",
            )


def _label(
    axes: Any, instance: Instance, setting: Setting, against: str, low: float, high: float
) -> None:
    axes.set_xlim(low, high)
    axes.set_xlabel("privacy budget epsilon" if against == "epsilon" else "rounds T")
    axes.set_ylabel("regret at T" if against == "epsilon" else "regret")
    means = ", ".join(f"{mean:g}" for mean in instance.means)
    at = f"T = {setting.horizon:,}" if against == "epsilon" else f"epsilon = {setting.epsilon:g}"
    axes.set_title(f"means {means}; {at}", pad=16)
    smallest = lower.coefficients(instance, max(high, 1.0)).without_privacy
    if against == "epsilon" and smallest > 0:
        axes.set_ylim(bottom=smallest * math.log(setting.horizon) / 4)
