"""What the paper says about its experiments, judged from the numbers with their uncertainty.

A comparison of mean regrets counts when it exceeds `SIGMAS` standard errors. A statement
REPRODUCES if every comparison in it holds so, DOES NOT REPRODUCE if one is contradicted so, and is
UNDECIDED otherwise. "Independent" and "the same" allow a relative difference of `SAME`; "similar"
allows a factor of `SIMILAR`: words that the paper leaves open and that are fixed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from dpaudit.experiments.panels import (
    ALPHAS,
    BUDGETS,
    ENVIRONMENTS,
    SHOWN,
    CellRuns,
    Record,
    Records,
)

SIGMAS = 3.0
SAME = 0.10
SIMILAR = 2.0

REPRODUCES, FAILS, UNDECIDED = "reproduces", "does not reproduce", "undecided"


@dataclass(frozen=True)
class Judgement:
    """A statement of the paper, the verdict, and the numbers behind it."""

    statement: str
    source: str
    verdict: str
    evidence: str


def exceeds(larger: CellRuns, smaller: CellRuns, factor: float = 1.0) -> str:
    """Judge `larger.mean >= factor * smaller.mean`."""
    margin = larger.mean - factor * smaller.mean
    error = math.hypot(larger.error, factor * smaller.error)
    if math.isnan(error) or math.isinf(error):
        return UNDECIDED
    if margin > SIGMAS * error:
        return REPRODUCES
    return FAILS if margin < -SIGMAS * error else UNDECIDED


def within(a: CellRuns, b: CellRuns, factor: float) -> str:
    """Judge that neither mean exceeds the other by more than a factor."""
    return together([exceeds(b, a, 1 / factor), exceeds(a, b, 1 / factor)])


def together(verdicts: Iterable[str]) -> str:
    """Return the verdict on all of several comparisons."""
    seen = set(verdicts)
    if FAILS in seen:
        return FAILS
    return UNDECIDED if UNDECIDED in seen else REPRODUCES


def panel_name(environment: str, epsilon: float) -> str:
    """Return the name of a comparison panel."""
    return f"comparison_{environment}_epsilon_{epsilon:g}"


def _show(sample: CellRuns) -> str:
    error = 0.0 if sample.error < 1e-9 * sample.mean else sample.error  # runs that all agree
    mean = f"{sample.mean:,.0f}" if sample.mean >= 1000 else f"{sample.mean:.4g}"
    return f"{mean} ± {f'{error:,.0f}' if error >= 100 else f'{error:.2g}'}"


def _everywhere(
    records: Records, judge: Callable[[Record], str], show: Callable[[Record], float], what: str
) -> tuple[str, str]:
    verdicts, numbers = {}, {}
    for environment in ENVIRONMENTS:
        for epsilon in BUDGETS:
            record = records[panel_name(environment, epsilon)]
            place = f"{environment} ε={epsilon:g}"
            verdicts[place], numbers[place] = judge(record), show(record)
    least, most = min(numbers, key=numbers.__getitem__), max(numbers, key=numbers.__getitem__)
    counts = {v: [p for p in verdicts if verdicts[p] == v] for v in (REPRODUCES, FAILS, UNDECIDED)}
    text = f"{len(counts[REPRODUCES])} of 16 panels"
    for verdict in (FAILS, UNDECIDED):
        if counts[verdict]:
            text += f"; {verdict}: {', '.join(counts[verdict])}"
    text += f"; {what} {numbers[least]:.3g} ({least}) to {numbers[most]:.3g} ({most})"
    return together(verdicts.values()), text


def _rivals(record: Record) -> CellRuns:
    return min(record["dp_ucb"], record["dp_se"], key=lambda sample: sample.mean)


def _along_epsilon(records: Records, name: str) -> Iterator[tuple[str, list[CellRuns]]]:
    for environment in ENVIRONMENTS:
        yield environment, [records[panel_name(environment, e)][name] for e in BUDGETS]


def comparison(records: Records) -> Iterator[Judgement]:
    """Judge the statements about the comparison of four algorithms."""
    main = records[panel_name("C2", 1.0)]
    kl, ucb, rival = main["adap_klucb"], main["adap_ucb"], _rivals(main)
    numbers = ", ".join(f"{name} {_show(sample)}" for name, sample in main.items())
    yield Judgement(
        "C2, ε = 1: AdaP-KLUCB has the lowest regret, followed by AdaP-UCB.",
        "Section 6",
        together([exceeds(ucb, kl), exceeds(rival, ucb)]),
        numbers,
    )
    yield Judgement(
        "C2, ε = 1: both have 10 times lower regret than the competing algorithms.",
        "Section 6",
        together([exceeds(rival, kl, 10), exceeds(rival, ucb, 10)]),
        f"best rival / AdaP-KLUCB = {rival.mean / kl.mean:.3g}, "
        f"best rival / AdaP-UCB = {rival.mean / ucb.mean:.3g}",
    )
    verdict, text = _everywhere(
        records,
        lambda r: together([exceeds(_rivals(r), r["adap_klucb"])]),
        lambda r: _rivals(r).mean / r["adap_klucb"].mean,
        "best of DP-SE, DP-UCB / AdaP-KLUCB =",
    )
    yield Judgement(
        "In all 16 panels AdaP-KLUCB beats DP-SE and DP-UCB.", "appendix", verdict, text
    )
    verdict, text = _everywhere(
        records,
        lambda r: exceeds(r["adap_ucb"], r["adap_klucb"]),
        lambda r: r["adap_ucb"].mean / r["adap_klucb"].mean,
        "AdaP-UCB / AdaP-KLUCB =",
    )
    yield Judgement(
        "AdaP-KLUCB is slightly better than AdaP-UCB in all cases.", "appendix", verdict, text
    )
    verdict, text = _everywhere(
        records,
        lambda r: within(r["adap_ucb"], r["adap_klucb"], SIMILAR),
        lambda r: r["adap_ucb"].mean / r["adap_klucb"].mean,
        "AdaP-UCB / AdaP-KLUCB =",
    )
    yield Judgement(
        f"AdaP-UCB and AdaP-KLUCB have similar regret (within a factor {SIMILAR:g}).",
        "appendix",
        verdict,
        text,
    )
    for name in ("adap_ucb", "adap_klucb", "dp_ucb"):
        yield _decreasing(records, name)
    yield _constant(records)
    yield from _shapes(records)


def _decreasing(records: Records, name: str) -> Judgement:
    verdicts, parts = [], []
    for environment, samples in _along_epsilon(records, name):
        verdicts += [exceeds(a, b) for a, b in zip(samples, samples[1:], strict=False)]
        parts.append(f"{environment}: {' > '.join(f'{sample.mean:.4g}' for sample in samples)}")
    return Judgement(
        f"The regret of {SHOWN[name]} is smaller for larger ε (0.1, 0.25, 0.5, 1).",
        "appendix",
        together(verdicts),
        "; ".join(parts),
    )


def _constant(records: Records) -> Judgement:
    verdicts, parts = [], []
    for environment, samples in _along_epsilon(records, "dp_se"):
        verdicts += [within(a, b, 1 + SAME) for a in samples for b in samples if a is not b]
        parts.append(f"{environment}: {', '.join(f'{sample.mean:.4g}' for sample in samples)}")
    return Judgement(
        f"DP-SE performs the same for all ε (within {SAME:.0%}).",
        "appendix",
        together(verdicts),
        "; ".join(parts),
    )


def _shapes(records: Records) -> Iterator[Judgement]:
    places = [(environment, epsilon) for environment in ENVIRONMENTS for epsilon in BUDGETS]
    moving, grown, verdicts = [], [], []
    for place in places:
        moving.append(float((records[panel_name(*place)]["dp_se"].late_growth() > 1e-9).mean()))
        growth = records[panel_name(*place)]["dp_ucb"].late_growth()
        error = growth.std(ddof=1) / math.sqrt(len(growth)) if len(growth) > 1 else math.inf
        grown.append(float(growth.mean()))
        verdicts.append(REPRODUCES if growth.mean() > SIGMAS * error else UNDECIDED)
    yield Judgement(
        "DP-SE commits to one arm: no run adds regret in the last fifth of the horizon.",
        "appendix",
        FAILS if any(moving) else REPRODUCES,
        f"share of runs that do: {min(moving):.0%} to {max(moving):.0%} over 16 panels",
    )
    yield Judgement(
        "DP-UCB keeps exploring: its mean regret grows in the last fifth of the horizon.",
        "appendix",
        together(verdicts),
        f"growth {min(grown):.3g} to {max(grown):.3g}; beyond {SIGMAS:g} errors in "
        f"{verdicts.count(REPRODUCES)} of 16 panels",
    )


def regimes(records: Records) -> Iterator[Judgement]:
    """Judge the statements about privacy regimes."""
    samples = {float(label): sample for label, sample in records["regimes"].items()}
    high = [epsilon for epsilon in samples if epsilon < 0.3]
    low = [epsilon for epsilon in samples if epsilon > 0.3]
    first, last = samples[high[0]], samples[low[-1]]
    drops = [exceeds(samples[a], samples[b]) for a, b in zip(high, high[1:], strict=False)]
    yield Judgement(
        "For ε < 0.3 the regret of AdaP-KLUCB depends on ε.",
        "Section 6",
        exceeds(first, samples[high[-1]]),
        f"regret {_show(first)} at ε={high[0]:g}, {_show(samples[high[-1]])} at ε={high[-1]:g}; "
        f"{drops.count(REPRODUCES)} of {len(drops)} neighbouring drops beyond {SIGMAS:g} errors",
    )
    flat = [e for e in low if within(samples[e], last, 1 + SAME) == REPRODUCES]
    settled = next((e for e in low if all(f in flat for f in low if f >= e)), None)
    yield Judgement(
        f"For ε > 0.3 the regret of AdaP-KLUCB does not depend on ε (within {SAME:.0%}).",
        "Section 6",
        together(within(samples[e], last, 1 + SAME) for e in low[:-1]),
        f"regret {_show(samples[low[0]])} at ε={low[0]:g}, {_show(last)} at ε={low[-1]:g}; "
        + (f"constant from ε = {settled:g} on" if settled else "still falling at the last ε"),
    )


def alpha(records: Records) -> Iterator[Judgement]:
    """Judge the statements about the choice of alpha."""
    record = records["alpha"]
    for name in ("adap_ucb", "adap_klucb"):
        samples = {a: record[f"{name} {a:g}"] for a in ALPHAS}
        numbers = ", ".join(f"α={a:g}: {_show(sample)}" for a, sample in samples.items())
        yield Judgement(
            f"C1, ε = 1: α = 1 works better than α = 3.1 for {SHOWN[name]}.",
            "appendix",
            exceeds(samples[3.1], samples[1.0]),
            numbers,
        )


JUDGES: dict[str, Callable[[Records], Iterator[Judgement]]] = {
    "comparison": comparison,
    "regimes": regimes,
    "alpha": alpha,
}


def markdown(judgements: Iterable[Judgement]) -> str:
    """Return the judgements as a Markdown table."""
    lines = ["| statement | where | verdict | numbers |", "|---|---|---|---|"]
    lines += [f"| {j.statement} | {j.source} | {j.verdict} | {j.evidence} |" for j in judgements]
    return "\n".join(lines) + "\n"
