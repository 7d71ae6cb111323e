"""Charts as inline SVG: axes, lines, steps, marks, levels; with a title and a description.

Coordinates are rounded to a tenth of a unit, so equal numbers give equal bytes. A chart is 440
units wide, which keeps its text readable both in half a desktop page and across a phone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from dpaudit.page.markup import Markup, join, tag

WIDTH, HEIGHT = 440, 276
LEFT, RIGHT, TOP, BOTTOM = 68, 20, 12, 54  # room for labels that a phone enlarges
Point = tuple[float, float]


ROOM = 0.03  # of an axis, for a character of a tick on a narrow screen


def short(value: float) -> str:
    """Return a number for a tick or a table: few digits, powers of ten where they are shorter."""
    if value == math.inf:
        return "infinity"
    if value == -math.inf:
        return "-infinity"
    if value == round(value) and abs(value) < 1e5:
        return f"{value:,.0f}"
    if not 1e-3 <= abs(value) < 1e5:
        mantissa, _, exponent = f"{value:.3g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
    return f"{value:.4g}"


@dataclass(frozen=True)
class Scale(ABC):
    """Values from `low` to `high` on an axis with a label."""

    low: float
    high: float
    label: str

    @abstractmethod
    def part(self, value: float) -> float:
        """Return where a value lies: 0 at the low end, 1 at the high end."""

    @abstractmethod
    def ticks(self) -> list[float]:
        """Return about five round values within the ends."""


class LinearScale(Scale):
    """Equal steps are equally long."""

    def part(self, value: float) -> float:
        """Return the linear position."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return multiples of 1, 2 or 5 times a power of ten."""
        span = self.high - self.low
        unit = 10.0 ** math.floor(math.log10(span / 4))
        step = next(unit * k for k in (1, 2, 5, 10) if span / (unit * k) <= 5.5)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first, last + 1)]


class Logarithmic(Scale):
    """Equal factors are equally long."""

    def part(self, value: float) -> float:
        """Return the position of the logarithm; what is not positive lies at the low end."""
        if value <= self.low:
            return 0.0
        return math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """Return powers of ten, thinned; of two where there are fewer than two of ten."""
        for base in (10.0, 2.0):
            first = math.ceil(math.log(self.low, base) - 1e-9)
            last = math.floor(math.log(self.high, base) + 1e-9)
            if last > first:
                break
        step = max(1, math.ceil((last - first) / 6))
        return [base**k for k in range(first, last + 1, step)]


@dataclass(frozen=True)
class Marked(Logarithmic):
    """A logarithmic axis whose ticks are some of the given values."""

    marks: tuple[float, ...] = ()

    def ticks(self) -> list[float]:
        """Return the values whose labels have room, the last one among them."""
        kept: list[float] = []
        for value in sorted(set(self.marks), reverse=True):
            if not kept or self.part(kept[-1]) - self.part(value) > ROOM * len(short(kept[-1])):
                kept.append(value)
        return kept


@dataclass(frozen=True)
class Frame:
    """The plane of a chart: turns values into coordinates."""

    x: Scale
    y: Scale
    height: int = HEIGHT

    def at(self, point: Point) -> tuple[str, str]:
        """Return the coordinates of a point, kept within the plane."""
        across = min(max(self.x.part(point[0]), 0.0), 1.0)
        up = min(max(self.y.part(point[1]), 0.0), 1.0)
        return (
            f"{LEFT + across * (WIDTH - LEFT - RIGHT):.1f}",
            f"{self.height - BOTTOM - up * (self.height - TOP - BOTTOM):.1f}",
        )

    def axes(self) -> Markup:
        """Return grid, ticks and labels."""
        parts: list[Markup] = []
        low = self.height - BOTTOM
        for value in self.y.ticks():
            _, y = self.at((self.x.low, value))
            parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, class_="grid"))
            label = {"text_anchor": "end", "class_": "soft"}
            parts.append(tag("text", short(value), x=LEFT - 6, y=float(y) + 4, **label))
        for value in self.x.ticks():
            x, _ = self.at((value, self.y.low))
            parts.append(tag("line", x1=x, x2=x, y1=low, y2=low + 4, class_="axis"))
            label = {"text_anchor": "middle", "class_": "soft"}
            parts.append(tag("text", short(value), x=x, y=low + 18, **label))
        parts.append(tag("line", x1=LEFT, x2=WIDTH - RIGHT, y1=low, y2=low, class_="axis"))
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(tag("text", self.x.label, x=middle, y=self.height - 8, text_anchor="middle"))
        up = (TOP + low) / 2
        turned = {"text_anchor": "middle", "transform": f"rotate(-90 12 {up:g})"}
        parts.append(tag("text", self.y.label, x=12, y=f"{up:g}", **turned))
        return join(parts)


@dataclass(frozen=True)
class Series(ABC):
    """Some points with a name; `colour` is 1 to 4, `dash` one of '', 'dash', 'dot'."""

    name: str
    points: Sequence[Point]
    colour: int = 1
    dash: str = ""

    @abstractmethod
    def draw(self, frame: Frame) -> Markup:
        """Return the drawing."""

    @property
    def stroke(self) -> str:
        """The classes of a line."""
        return f"line s{self.colour} {self.dash}".strip()

    def swatch(self) -> Markup:
        """Return the sample that the legend shows."""
        line = tag("line", x1=1, x2=29, y1=7, y2=7, class_=self.stroke)
        return tag("svg", line, viewBox="0 0 30 14", aria_hidden="true")


class Line(Series):
    """Points joined by straight lines; a single one becomes a mark."""

    def draw(self, frame: Frame) -> Markup:
        """Return a polyline."""
        if len(self.points) == 1:
            return Marks(self.name, self.points, self.colour).draw(frame)
        path = " ".join(",".join(frame.at(point)) for point in self.points)
        return tag("polyline", points=path, class_=self.stroke)


class Marks(Series):
    """Points as dots, joined by a line of the series' dash."""

    def draw(self, frame: Frame) -> Markup:
        """Return circles, over a line where there are several."""
        circles = [
            tag("circle", cx=x, cy=y, r=3.5, class_=f"f{self.colour}")
            for x, y in map(frame.at, self.points)
        ]
        line = Line(self.name, self.points, self.colour, self.dash)
        return join(line.draw(frame) if len(self.points) > 1 else None, circles)

    def swatch(self) -> Markup:
        """Return a dot on a line."""
        line = tag("line", x1=1, x2=29, y1=7, y2=7, class_=self.stroke)
        dot = tag("circle", cx=15, cy=7, r=3.5, class_=f"f{self.colour}")
        return tag("svg", line, dot, viewBox="0 0 30 14", aria_hidden="true")


class Bars(Series):
    """A bar from the axis up to every point."""

    def draw(self, frame: Frame) -> Markup:
        """Return one rectangle per point, as wide as the points are apart."""
        room = (WIDTH - LEFT - RIGHT) / max(len(self.points), 1)
        width = max(1.0, min(0.7 * room, 28.0))
        base = frame.height - BOTTOM
        parts = []
        for x, y in map(frame.at, self.points):
            size = {"width": f"{width:.1f}", "height": f"{base - float(y):.1f}"}
            left = f"{float(x) - width / 2:.1f}"
            parts.append(tag("rect", x=left, y=y, class_=f"f{self.colour}", **size))
        return join(parts)

    def swatch(self) -> Markup:
        """Return a small bar."""
        bar = tag("rect", x=8, y=1, width=14, height=12, class_=f"f{self.colour}")
        return tag("svg", bar, viewBox="0 0 30 14", aria_hidden="true")


class Spans(Series):
    """An upright interval at every x: points come in pairs, lower end then upper end."""

    def draw(self, frame: Frame) -> Markup:
        """Return lines with caps."""
        parts = []
        for low, high in zip(self.points[::2], self.points[1::2], strict=True):
            (x, below), (_, above) = frame.at(low), frame.at(high)
            parts.append(tag("line", x1=x, x2=x, y1=below, y2=above, class_=self.stroke))
            for y in (below, above):
                left, right = f"{float(x) - 9:.1f}", f"{float(x) + 9:.1f}"
                parts.append(tag("line", x1=left, x2=right, y1=y, y2=y, class_=self.stroke))
        return join(parts)


def level(name: str, value: float, x: Scale, colour: int, dash: str) -> Line:
    """Return a horizontal line across the chart."""
    return Line(name, ((x.low, value), (x.high, value)), colour, dash)


def chart(
    identity: str, title: str, description: str, x: Scale, y: Scale, series: Sequence[Series]
) -> Markup:
    """Return the chart with its legend; `identity` must be unique in the page."""
    frame = Frame(x, y)
    drawn = [frame.axes(), *(one.draw(frame) for one in series)]
    legend = [tag("li", one.swatch(), tag("span", one.name)) for one in series]
    return join(
        picture(identity, title, description, HEIGHT, drawn),
        tag(
            "ul",
            legend,
            class_="legend",
        ),
    )


def picture(
    identity: str, title: str, description: str, height: int, drawn: Sequence[Markup]
) -> Markup:
    """Return an SVG image with its text alternatives."""
    return tag(
        "svg",
        tag("title", title, id=f"{identity}-title"),
        tag("desc", description, id=f"{identity}-desc"),
        list(drawn),
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{identity}-title {identity}-desc",
    )


def headroom(values: Sequence[float], least: float = 1e-9) -> float:
    """Return an upper end for an axis that shows every finite value with some room above."""
    return 1.12 * max([least, *(value for value in values if math.isfinite(value))])
