"""Pictures: one style, colours that colour-blind readers can tell apart, reproducible bytes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from dpaudit.core.simulate import SimulationResult

# Okabe and Ito's palette without its yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":")
MARK = "dpaudit, with Matplotlib"
FORMATS = (".png", ".svg", ".pdf")


def require_picture(destination: str | None) -> None:
    """Raise now rather than after the work if a picture cannot be written there."""
    from dpaudit.output import require_writable

    if destination is None:
        return
    if Path(destination).suffix not in FORMATS:
        raise InvalidArgument("plot", destination, f"must end in {', '.join(FORMATS)}.")
    require_writable(destination, MARK)


def figure() -> tuple[Any, Any]:
    """Return a figure with one pair of axes."""
    canvas, axes = sheet(1, 1, 6.4, 4.4)
    return canvas, axes[0]


def sheet(rows: int, columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """Return a figure of several pairs of axes that share their scales, row by row."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(width, height), layout="constrained")
    grid = canvas.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat:
        axes.grid(True, which="major", alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    return canvas, list(grid.flat)


def save(canvas: Any, path: Path) -> None:
    """Write a figure whole or not at all, with the same bytes for the same content."""
    import matplotlib

    from dpaudit.output import write_bytes

    kind = path.suffix[1:]
    date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    maker = "Software" if kind == "png" else "Creator"
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "dpaudit", "svg.fonttype": "path"}):
        canvas.savefig(buffer, format=kind, dpi=150, metadata=date | {maker: MARK})
    write_bytes(path, buffer.getvalue(), MARK)


def draw_curve(axes: Any, times: Any, curves: Any, label: str, colour: str, dash: str) -> None:
    """Draw mean regret against time with a band of one standard deviation over the runs."""
    mean, spread = curves.mean(axis=0), curves.std(axis=0)
    axes.plot(times, mean, dash, color=colour, label=label)
    axes.fill_between(times, mean - spread, mean + spread, color=colour, alpha=0.15)


def label_curves(axes: Any, title: str) -> None:
    """Set the scales, labels and legend of regret curves."""
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("round t")
    axes.set_ylabel("regret (mean ± one standard deviation)")
    axes.set_title(title, fontsize="medium")
    axes.legend(frameon=False, fontsize="small")


def save_curve(result: SimulationResult, destination: str) -> None:
    """Write a picture of one simulation's regret curve."""
    canvas, axes = figure()
    draw_curve(axes, result.times, result.curves, result.algorithm, COLOURS[0], DASHES[0])
    means = ", ".join(f"{mean:g}" for mean in result.means)
    stated = ", ".join(
        f"{name} = {result.parameters[name]:g}"
        for name in ("epsilon", "rho", "alpha")
        if isinstance(result.parameters.get(name), int | float)
    )
    title = f"means {means}\n{stated}{', ' * bool(stated)}{result.runs:,} runs"
    label_curves(axes, title)
    save(canvas, Path(destination))
