"""The figures of an algorithm's page, each with its values and a caption that says what is seen."""

from __future__ import annotations

import math
import textwrap
from itertools import groupby

from dpaudit.judging import Report
from dpaudit.page.chart import (
    Bars,
    Line,
    LinearScale,
    Logarithmic,
    Marked,
    Marks,
    Series,
    Spans,
    chart,
    headroom,
    level,
    short,
)
from dpaudit.page.markup import Markup, tag
from dpaudit.page.tables import values
from dpaudit.particulars import Details, PairProfile, PositionLosses, Regret
from dpaudit.verdict import Course, Finding, Status

LOG10 = math.log(10)
CLAIM = "the claim"
MOST_BARS = 64
LOOKS = ((4, "dot"), (1, ""), (3, "dash"), (4, ""), (1, "dot"), (3, ""))  # 2 is for the claim
ERROR = 1e-9  # of a delta: likelihoods are measured to 1e-10


def figure(picture: Markup, title: str, caption: str, table: Markup) -> Markup:
    """Return a picture with its caption and its values."""
    return tag("figure", picture, tag("figcaption", tag("strong", title), " ", caption), table)


def losses(report: Report, details: Details) -> Markup | None:
    """Return epsilon* against the horizon: what a page looked for, and what the exact check says.

    Where both speak of a horizon, the check does: it is what the verdict rests on.
    """
    exact = [f for f in report.findings if f.check == "exact" and f.horizon]
    exact = [f for f in exact if f.epsilon_lower > 0 or math.isfinite(f.epsilon_upper)]
    certified = [f for f in exact if f.certified and math.isfinite(f.epsilon_upper)]
    seen = [f for f in exact if f.status is Status.REFUTED and math.isfinite(f.epsilon_lower)]
    judged = {f.horizon for f in exact}
    looked = [one for one in details.losses if one.horizon not in judged]
    shown = [(one.horizon, one.lower) for one in looked]
    shown += [(f.horizon, f.epsilon_lower) for f in exact if f not in certified + seen]
    shown = sorted(mark for mark in shown if math.isfinite(mark[1]))
    if not shown and not certified and not seen:
        return None
    claimed = report.claim.epsilon
    horizons = [size for size, _ in shown] + [f.horizon for f in [*certified, *seen]]
    ends = (min(horizons) / 1.15, max(horizons) * 1.15)
    across = Marked(*ends, "horizon T (rounds)", tuple(map(float, horizons)))
    heights = [loss for _, loss in shown] + [f.epsilon_upper for f in certified]
    heights += [f.epsilon_lower for f in seen]
    up = LinearScale(0.0, headroom([*heights, claimed]), "loss epsilon*(T)")
    series: list[Series] = [level(CLAIM, claimed, across, 2, "dash")]
    if shown:
        series.append(Marks("largest loss found", shown, 1))
    if certified:
        brackets = [(f.horizon, e) for f in certified for e in (f.epsilon_lower, f.epsilon_upper)]
        series.append(Spans("certified bracket", brackets, 3))
    if seen:
        series.append(Marks("the witness", [(f.horizon, f.epsilon_lower) for f in seen], 4))
    caption = (
        f"The largest loss over action sequences and pairs of T rounds (the values say which); "
        f"{short(max(heights))} up to T = {max(horizons):,}, claimed {claimed:g}."
    )
    rows = [
        (one.horizon, one.lower, one.upper, _kind(one.certified), one.covers.rstrip("."))
        for one in looked
        if math.isfinite(one.lower)
    ]
    rows += [
        (f.horizon, f.epsilon_lower, f.epsilon_upper, _kind(f.certified), f.streams.rstrip("."))
        for f in exact
    ]
    rows.sort(key=lambda row: row[0])
    heads = ("T", "lower end", "upper end", "arithmetic", "covers")
    picture = chart("losses", "Loss against the horizon", caption, across, up, series)
    return figure(picture, "Loss against the horizon.", caption, values("epsilon*(T)", heads, rows))


def _kind(certified: bool) -> str:
    return "certified" if certified else "floating point"


SOME = 4


def positions(found: PositionLosses, claimed: float) -> Markup:
    """Return the loss by the position of the changed reward."""
    count = len(found.losses)
    across = LinearScale(0.4, count + 0.6, "round of the changed reward")
    up = LinearScale(0.0, headroom([*found.losses, claimed]), "largest loss")
    finite = [min(loss, up.high) for loss in found.losses]
    name = "largest loss"
    if math.inf in found.losses:
        name += " (infinite: up to the top)"
    # losses that print alike are one: the last digits of equal ones may differ
    alike = [list(group) for _, group in groupby(found.losses, short)]
    runs = [(max(group), len(group)) for group in alike]
    worst, (first, last) = max(_edges(runs), key=lambda run: run[0])
    most = [
        f"{a:,.0f} to {b:,.0f}" if b > a else f"{a:,.0f}"
        for x, (a, b) in _edges(runs)
        if short(x) == short(worst)
    ]
    who = f"Reward {most[0]} of {count:,} leaks"
    if last > first or len(most) > 1:
        named = ", ".join(most[:SOME]) + f" and {len(most) - SOME} more" * (len(most) > SOME)
        who = f"Rewards {named} of {count:,} leak"
    caption = f"{who} most: {short(worst)}. Over {found.covers}."
    drawn: Series = Bars(name, list(enumerate(finite, 1)), 1)
    if count > MOST_BARS:
        ends = [(edge, min(loss, up.high)) for loss, edges in _edges(runs) for edge in edges]
        drawn = Line(name, ends, 1)
    series = [drawn, level(CLAIM, claimed, across, 2, "dash")]
    picture = chart("positions", "Loss by position", caption, across, up, series)
    rows = [
        (f"{first:.0f}" if first == last else f"{first:.0f}\u2013{last:.0f}", loss)
        for loss, (first, last) in _edges(runs)
    ]
    table = values("largest loss for a change of one reward", ("rounds", "loss"), rows)
    return figure(picture, "Which reward leaked most.", caption, table)


def _edges(runs: list[tuple[float, int]]) -> list[tuple[float, tuple[float, float]]]:
    """Return every run of equal losses with its first and last round."""
    found, start = [], 1
    for loss, length in runs:
        found.append((loss, (float(start), float(start + length - 1))))
        start += length
    return found


def profile(found: PairProfile, claimed: float) -> Markup:
    """Return delta(epsilon) of the worst pair, in both directions."""
    across = LinearScale(0.0, found.epsilons[-1], "epsilon")
    both = [*found.delta, *found.delta_neighbour]
    up = LinearScale(0.0, headroom(both, 1e-6), "delta(epsilon)")
    series: list[Series] = [
        Line("stream over neighbour", list(zip(found.epsilons, found.delta, strict=True)), 1),
        Line(
            "neighbour over stream",
            list(zip(found.epsilons, found.delta_neighbour, strict=True)),
            3,
            "dot",
        ),
        Line(CLAIM, ((claimed, 0.0), (claimed, up.high)), 2, "dash"),
    ]
    at_claim = max(
        delta
        for epsilon, *deltas in zip(found.epsilons, found.delta, found.delta_neighbour, strict=True)
        for delta in deltas
        if epsilon >= claimed
    )
    needs = "0 within the error of the arithmetic" if at_claim < ERROR else short(at_claim)
    caption = (
        f"The smallest delta of (epsilon, delta)-DP for {found.of}, {len(found.stream):,} rounds. "
        f"At the claim it is {needs}; a pure claim needs 0."
    )
    picture = chart("profile", "Privacy profile", caption, across, up, series)
    rows = list(zip(found.epsilons, found.delta, found.delta_neighbour, strict=True))
    heads = ("epsilon", "delta, stream over neighbour", "delta, neighbour over stream")
    return figure(picture, "Privacy profile.", caption, values("delta(epsilon)", heads, rows))


def trade_off(found: PairProfile, claimed: float) -> Markup:
    """Return the trade-off curve of the worst pair over the least one that the claim allows."""
    across = LinearScale(0.0, 1.0, "false alarms (alpha)")
    up = LinearScale(0.0, 1.0, "misses (beta)")
    corner = 1 / (1 + math.exp(claimed))
    allowed = [(0.0, 1.0), (corner, corner), (1.0, 0.0)]
    points = list(zip(found.alpha, found.beta, strict=True))
    series: list[Series] = [
        Line("blind guess", ((0.0, 1.0), (1.0, 0.0)), 3, "dot"),
        Line("least that the claim allows", allowed, 2, "dash"),
        Line(found.of, points, 1),
    ]
    caption = (
        "The best tests of the stream against its neighbour, from the actions alone. "
        "A private curve stays above the dashed one. "
        f"Total variation {short(found.total_variation)}, over {found.sequences} action sequences."
    )
    picture = chart("trade-off", "Trade-off curve", caption, across, up, series)
    table = values("corners of the curve", ("alpha", "beta"), points)
    return figure(picture, "Trade-off curve.", caption, table)


def evidence(finding: Finding, claimed: float) -> Markup | None:
    """Return the audit's evidence over its fresh runs, in powers of ten."""
    courses = [one for one in finding.courses if len(one.rounds) > 1]
    if not courses:
        return None
    most = max(one.rounds[-1] for one in courses)
    heights = [e / LOG10 for one in courses for e in one.evidence if math.isfinite(e)]
    needed = max(one.needed for one in courses) / LOG10
    least = min([0.0, *heights])
    across = LinearScale(0.0, 2.0 * most * 1.02, "fresh runs")
    up = LinearScale(
        max(least * 1.1, -needed), headroom([*heights, needed]), "evidence (power of ten)"
    )
    series: list[Series] = [
        Marks(_named(number, one), _course(one, up.low), *LOOKS[number % len(LOOKS)])
        for number, one in enumerate(courses, 1)
    ]
    series.append(level("needed to refute", needed, across, 2, "dash"))
    best = max(heights, default=0.0)
    caption = (
        f"The e-process of each hypothesis against epsilon = {claimed:g}: the best reaches "
        f"10^{best:.2f}, 10^{needed:.2f} refutes."
    )
    if finding.status is not Status.REFUTED:
        caption += " Silence is not a proof."
    picture = chart("evidence", "Evidence over runs", caption, across, up, series)
    rows = [
        (number, 2 * rounds, e / LOG10, lower, one.hypothesis)
        for number, one in enumerate(courses, 1)
        for rounds, e, lower in zip(one.rounds, one.evidence, one.lower, strict=True)
    ]
    heads = ("hypothesis", "runs", "evidence, power of ten", "epsilon at least", "pair | event")
    return figure(
        picture, "The audit's evidence.", caption, values("evidence by fresh runs", heads, rows)
    )


def _named(number: int, one: Course) -> str:
    """Return a hypothesis as a legend has room for: its pair and its event, cut short."""
    return textwrap.shorten(f"{number}: {one.hypothesis}", 70, placeholder=" ...")


def _course(one: Course, low: float) -> list[tuple[float, float]]:
    return [
        (2.0 * rounds, max(e / LOG10, low))
        for rounds, e in zip(one.rounds, one.evidence, strict=True)
    ]


def regret(found: Regret) -> Markup:
    """Return simulated regret over time with its bounds."""
    first = max(found.times[0], 1)
    across = Logarithmic(first, found.times[-1], "round t")
    limit = [(t, found.coefficient * math.log(t)) for t in found.times if t > 1]
    measured = list(zip(found.times, found.mean, strict=True))
    bounds = list(zip(found.upper_times, found.upper, strict=True))
    heights = [value for _, value in [*measured, *limit, *bounds]]
    low = max(min([value for value in heights if value > 0], default=0.1), 1e-2)
    up = Logarithmic(low, headroom(heights, 2 * low), "regret")
    series: list[Series] = [Line(f"mean of {found.runs} runs", measured, 1)]
    if bounds:
        series.append(Line("upper bound", bounds, 2, "dash"))
    series.append(Line("lower bound in the limit", limit, 3, "dot"))
    means = ", ".join(f"{mean:g}" for mean in found.means)
    caption = (
        f"Bernoulli arms with means {means}: mean regret {short(found.mean[-1])} "
        f"(standard error {short(found.standard_error)}) at t = {found.horizon:,}. "
    )
    if found.finite_lower is not None and bounds:
        caption += (
            f"At this horizon its own bounds are {short(found.finite_lower)} and "
            f"{short(bounds[-1][1])}. "
        )
    else:
        caption += "No established upper bound of its own. "
    caption += (
        "The dotted line is what every epsilon-DP algorithm pays in the limit; at a finite t a run "
        "may lie below it."
    )
    picture = chart("regret", "Regret over time", caption, across, up, series)
    upper = dict(bounds)
    rows = [
        (t, mean, deviation, short(upper[t]) if t in upper else "")
        for t, mean, deviation in zip(found.times, found.mean, found.deviation, strict=True)
    ]
    heads = ("round", "mean regret", "standard deviation", "upper bound")
    return figure(picture, "Regret with its bounds.", caption, values("regret", heads, rows))
