"""The bracket epsilon_lower <= epsilon <= epsilon_upper on a line, with the claim marked.

Ends print outward rounded, as everywhere: a lower end that is shown is at most the true one.
"""

from __future__ import annotations

import math

from dpaudit.core.arithmetic import at_least, at_most
from dpaudit.page.chart import WIDTH, LinearScale, picture
from dpaudit.page.markup import Markup, tag

HEIGHT, LINE = 150, 72
LEFT, RIGHT = 14, 24
NARROW, MARK = 16, 12  # a bracket that nobody would see is a diamond


def bracket(
    lower: float, upper: float, claimed: float, likely: float = 0.0, measure: str = "epsilon"
) -> Markup:
    """Return the picture; an infinite end is an arrow that leaves the line.

    `likely`, above 0, is a lower bound that holds with some probability: a ring.
    """
    finite = [value for value in (lower, upper, claimed, likely) if math.isfinite(value)]
    scale = LinearScale(0.0, 1.3 * max(finite), measure)

    def place(value: float) -> float:
        return LEFT + min(scale.part(value), 1.0) * (WIDTH - LEFT - RIGHT)

    parts = [_line(), *(_tick(place(value), value) for value in scale.ticks())]
    start, stop = place(lower), place(upper)
    start, stop = min(start, WIDTH - RIGHT - 6), max(stop, start + 4)
    if stop - start < NARROW:
        middle = (start + stop) / 2
        corners = ((0, -MARK), (MARK, 0), (0, MARK), (-MARK, 0))
        points = " ".join(f"{middle + x:.1f},{LINE + y}" for x, y in corners)
        parts.append(tag("polygon", points=points, class_="f1"))
    parts.append(
        tag(
            "rect",
            x=f"{start:.1f}",
            y=LINE - 7,
            width=f"{stop - start:.1f}",
            height=14,
            class_="f1",
            rx=2,
        )
    )
    if not math.isfinite(upper):
        end = WIDTH - RIGHT
        arrow = f"{end},{LINE - 11} {end + 15},{LINE} {end},{LINE + 11}"
        parts.append(tag("polygon", points=arrow, class_="f1"))
    mark = f"{place(claimed):.1f}"
    parts.append(tag("line", x1=mark, x2=mark, y1=34, y2=LINE - 2, class_="claim"))
    foot = (
        f"{place(claimed) - 6:.1f},{LINE - 12} {place(claimed) + 6:.1f},{LINE - 12} {mark},{LINE}"
    )
    parts.append(tag("polygon", points=foot, class_="claim f2"))
    side = _anchor(place(claimed))
    parts.append(tag("text", f"claimed {measure} = {claimed:g}", x=mark, y=28, text_anchor=side))
    if likely > 0:
        parts.append(tag("circle", cx=f"{place(likely):.1f}", cy=LINE, r=6, class_="likely"))
    known = words(lower, upper, measure)
    height = HEIGHT
    if likely > lower:
        sampled = f"{measure} > {at_least(likely, 4)}, by sampling"
        parts.append(tag("text", sampled, x=LEFT, y=HEIGHT + 12, font_weight="bold"))
        height += 22
    parts.append(tag("text", known, x=LEFT, y=HEIGHT - 10, font_weight="bold"))
    description = f"A line from 0. The largest loss lies here: {known}. The claim is {claimed:g}."
    if likely > 0:
        description += f" A ring at {at_least(likely)}: a lower bound with some probability."
    return picture("bracket", f"What is known of {measure}", description, height, parts)


def words(lower: float, upper: float, measure: str = "epsilon") -> str:
    """Return the bracket as an inequality, rounded outward."""
    if lower == math.inf:
        return f"{measure} is infinite"
    left = f"{at_least(lower)} \u2264 " if lower > 0 else "0 \u2264 "
    right = f" \u2264 {at_most(upper)}" if upper < math.inf else " (no upper bound)"
    return f"{left}{measure}{right}"


def _line() -> Markup:
    return tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=LINE, y2=LINE, class_="axis")


def _tick(x: float, value: float) -> Markup:
    mark = tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=LINE, y2=LINE + 12, class_="axis")
    label = tag(
        "text", f"{value:.4g}", x=f"{x:.1f}", y=LINE + 30, text_anchor="middle", class_="soft"
    )
    return tag("g", mark, label)


def _anchor(x: float) -> str:
    return "start" if x < 100 else "end" if x > WIDTH - 100 else "middle"
