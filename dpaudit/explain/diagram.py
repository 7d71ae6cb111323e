"""The graph of public states as a picture: time runs downwards, states that meet again meet.

A white box is a fork (rounds, pull counts, what is asked), a coloured one a way from it: the colour
is the first arm played, the text what is played, released and charged. Every box stands as near as
its neighbours let it to the mean of the boxes above it that lead to it.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpaudit import plotting
from dpaudit.explain.states import StateGraph, place_of

WIDE = 27  # characters of a line
LETTER, LINE = 0.068, 0.145  # inches of one at the size of the text
TEXT = 7.5  # points
GAP, STEP = 0.16, 0.42  # inches between boxes and between layers


@dataclass
class DiagramBox:
    """A box of the picture: its lines, who leads to it, and where it stands."""

    lines: list[str]
    colour: str
    layer: int
    above: list[DiagramBox] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        """Inches that its longest line needs."""
        return LETTER * max(map(len, self.lines)) + 0.16

    @property
    def height(self) -> float:
        """Inches that its lines need."""
        return LINE * len(self.lines) + 0.12


def boxes(graph: StateGraph) -> list[DiagramBox]:
    """Return forks and ways as boxes, each a layer below all that lead to it, and placed."""
    forks = [
        DiagramBox(
            [f"[{number}] {place_of(fork)}", *textwrap.wrap(fork.asks, WIDE + 6)], "#ffffff", 0
        )
        for number, fork in enumerate(graph.forks, 1)
    ]
    found = list(forks)
    for fork, box in zip(graph.forks, forks, strict=True):  # in the order of time
        for way in fork.ways:
            goes_on = way.to is None and not way.ends
            text = (*way.parts, *("...",) * goes_on)
            lines = [line for part in text for line in textwrap.wrap(part, WIDE)]
            colour = "#dddddd" if way.arm is None else _pale(way.arm)
            found.append(DiagramBox(lines, colour, box.layer + 1, [box]))
            if way.to is not None:
                below = forks[way.to]
                below.above.append(found[-1])
                below.layer = max(below.layer, box.layer + 2)
    _place(found)
    return found


def _place(found: list[DiagramBox]) -> None:
    top = 0.0
    for layer in range(max(box.layer for box in found) + 1):
        row = [box for box in found if box.layer == layer]
        wanted = {id(box): sum(it.x for it in box.above) / max(1, len(box.above)) for box in row}
        row.sort(key=lambda box: wanted[id(box)])  # stable: ways keep the order of the answers
        right = -float("inf")
        for box in row:
            box.x = max(wanted[id(box)], right + GAP + box.width / 2)
            right = box.x + box.width / 2
        # pushed to the right as little as possible, then back to the middle
        shift = sum(box.x - wanted[id(box)] for box in row) / max(1, len(row))
        height = max((box.height for box in row), default=0.0)
        for box in row:
            box.x, box.y = box.x - shift, top - height / 2
        top -= height + STEP


def _pale(arm: int) -> str:
    """Return an arm's colour, light enough to read on."""
    colour = plotting.COLOURS[:-1][arm % (len(plotting.COLOURS) - 1)]
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - (255 - part) * 0.28):02x}" for part in parts)


def draw(graph: StateGraph, title: str, path: Path) -> None:
    """Write the picture of a graph."""
    found = boxes(graph)
    left = min(box.x - box.width / 2 for box in found) - 0.2
    right = max(box.x + box.width / 2 for box in found) + 0.2
    bottom = min(box.y - box.height / 2 for box in found) - 0.2
    note = textwrap.wrap(graph.note, max(40, int((right - left) / LETTER)))
    heading = textwrap.wrap(title, max(40, int((right - left) / LETTER / 1.25)))
    top, bottom = 0.3 + 0.2 * len(heading), bottom - LINE * len(note)
    canvas = _sheet(right - left, top - bottom)
    axes = canvas.add_axes((0, 0, 1, 1))
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.axis("off")
    for box in found:
        for other in box.above:
            ends = (other.x, other.y - other.height / 2), (box.x, box.y + box.height / 2)
            arrow = {"arrowstyle": "-|>", "color": "#777777", "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", ends[1], ends[0], arrowprops=arrow | {"linewidth": 0.8}, zorder=1)
    for box in found:
        _box(axes, box)
    middle = (left + right) / 2
    axes.text(middle, top - 0.1, "\n".join(heading), ha="center", va="top", fontsize=TEXT + 2)
    axes.text(left + 0.2, bottom + 0.1, "\n".join(note), va="bottom", fontsize=TEXT, style="italic")
    plotting.save(canvas, path)


def _sheet(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height))


def _box(axes: Any, box: DiagramBox) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (box.x - box.width / 2, box.y - box.height / 2)
    shape = "round,pad=0,rounding_size=0.06"
    look: dict[str, Any] = {
        "facecolor": box.colour,
        "edgecolor": "#555555",
        "linewidth": 0.8,
        "zorder": 2,
    }
    axes.add_patch(FancyBboxPatch(corner, box.width, box.height, boxstyle=shape, **look))
    text = "\n".join(box.lines)
    axes.text(box.x, box.y, text, ha="center", va="center", fontsize=TEXT, zorder=3)
