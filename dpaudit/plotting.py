"""Pictures: one style, colours that colour-blind readers can tell apart, reproducible bytes."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from dpaudit.core.simulate import SimulationResult

# Okabe and Ito's palette without its yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":")
FORMATS = (".png", ".svg", ".pdf")


def require_picture(destination: str | None) -> None:
    """Raise now rather than after the work if a picture cannot be written there."""
    from dpaudit.output import require_writable

    if destination is None:
        return
    if Path(destination).suffix not in FORMATS:
        raise InvalidArgument("plot", destination, f"must end in {', '.join(FORMATS)}.")
    require_writable(destination)


def figure(width: float = 6.4, height: float = 4.4) -> tuple[Any, Any]:
    """Return a figure with one pair of axes."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(width, height), layout="constrained")
    axes = canvas.subplots()
    axes.grid(True, which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    return canvas, axes


def save(canvas: Any, path: Path) -> None:
    """Write a figure whole or not at all, with the same bytes for the same content."""
    import matplotlib

    from dpaudit.output import write_bytes

    kind = path.suffix[1:]
    date = {"png": "Software", "svg": "Date", "pdf": "CreationDate"}[kind]
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "dpaudit", "svg.fonttype": "path"}):
        canvas.savefig(buffer, format=kind, dpi=150, metadata={date: None})
    write_bytes(path, buffer.getvalue())


def draw_curves(axes: Any, results: Mapping[str, SimulationResult]) -> None:
    """Draw mean regret against time with a band of one standard deviation per result."""
    for i, (label, result) in enumerate(results.items()):
        mean = result.curves.mean(axis=0)
        spread = result.curves.std(axis=0)
        colour = COLOURS[i % len(COLOURS)]
        dash = DASHES[i % len(DASHES)]
        axes.plot(result.times, mean, dash, color=colour, label=label)
        axes.fill_between(result.times, mean - spread, mean + spread, color=colour, alpha=0.15)
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("round t")
    axes.set_ylabel("regret (mean ± one standard deviation)")
    axes.legend(frameon=False)


def save_curves(results: Mapping[str, SimulationResult], destination: str) -> None:
    """Write a picture of regret curves."""
    canvas, axes = figure()
    draw_curves(axes, results)
    first = next(iter(results.values()))
    axes.set_title(f"means {', '.join(f'{mean:g}' for mean in first.means)}; {first.runs} runs")
    save(canvas, Path(destination))
