"""Seeded runs of a declaration, all at once, against likelihoods and against the auditor's runs.

For the long campaign alone.

Runs that stand in one public state advance together. A count of `RUNS` runs with likelihood p is
off by more than z = 7 deviations (and 1 / RUNS) with probability below 1e-11, by Bernstein's bound;
a campaign of a million counts raises a false alarm with probability below 1e-5.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from cases import Case

from dpaudit.core.algorithm import (
    Accumulate,
    Algorithm,
    Choose,
    Keep,
    Play,
    Release,
    Respond,
    Rows,
    Stop,
    Toss,
)
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.canonical import Distrust
from dpaudit.core.noise import Gaussian, NoNoise
from dpaudit.exact import likelihood
from dpaudit.sample.streams import Stream
from dpaudit.sample.together import run_together

RUNS, TOGETHER = 200_000, 20_000
MOST = 8  # action sequences of one case


def frequencies(algorithm: Algorithm, stream: Any, runs: int, rng: Any) -> Counter[tuple[int, ...]]:
    """Return how often every action sequence came up."""
    found: Counter[tuple[int, ...]] = Counter()

    def walk(state: Any, played: tuple[int, ...], registers: dict[Any, Any], size: int) -> None:
        while True:
            step = algorithm.step(state)
            request, answer = step.request, None
            if isinstance(request, Play):
                first = played.count(request.arm)
                played = (*played, *(request.arm,) * request.rounds)
                if len(played) >= len(stream):
                    found[played[: len(stream)]] += size
                    return
                answer = Rows(request.arm, first, first + request.rounds)
            elif isinstance(request, Release | Accumulate):
                rows, noise = request.rows, request.noise
                steps = [t for t, arm in enumerate(played) if arm == rows.arm]
                total = math.fsum(stream[t] for t in steps[rows.first : rows.stop])
                value = total / float(request.divisor) + _drawn(noise, size, rng)
                if isinstance(request, Accumulate):
                    value = value + registers.get(request.register, 0.0)
                registers = {**registers, request.register: value}
            elif isinstance(request, Stop):
                rest = (algorithm.arms + request.arm,) * (len(stream) - len(played))
                found[(*played, *rest)] += size
                return
            elif isinstance(request, Respond):
                rows, one, zero = request.rows, float(request.one), float(request.zero)
                (t,) = [t for t, arm in enumerate(played) if arm == rows.arm][
                    rows.first : rows.stop
                ]
                bits = rng.random(size) < zero + (one - zero) * stream[t]
                registers = {
                    **registers,
                    request.register: registers.get(request.register, 0.0) + bits,
                }
            elif isinstance(request, Toss):
                side = rng.choice(len(request.chances), size, p=[float(p) for p in request.chances])
                for code in np.unique(side).tolist():
                    some = {name: value[side == code] for name, value in registers.items()}
                    walk(step.then(code), played, some, int((side == code).sum()))
                return
            else:
                x = np.stack([sum(registers[n] for n in group) for group in request.registers], -1)
                if isinstance(request, Keep):
                    near = x >= x.max(axis=-1, keepdims=True) - float(request.width(FLOAT))
                    chosen = near @ (1 << np.arange(len(request.arms)))
                else:
                    chosen = np.asarray(request.rule(FLOAT).winner(x, rng))
                for code in np.unique(chosen).tolist():
                    here = chosen == code
                    some = {name: value[here] for name, value in registers.items()}
                    walk(step.then(_answer(request, code)), played, some, int(here.sum()))
                return
            state = step.then(answer)

    walk(algorithm.start(), (), {}, runs)
    return found


def _drawn(noise: Any, size: int, rng: Any) -> Any:
    if isinstance(noise, NoNoise):
        return np.zeros(size)
    if isinstance(noise, Gaussian):
        return rng.normal(0.0, noise.deviation, size)
    return rng.laplace(0.0, float(noise.scale), size)


def _answer(request: Choose | Keep, code: int) -> Any:
    if isinstance(request, Choose):
        return request.arms[code]
    return tuple(arm for bit, arm in enumerate(request.arms) if code >> bit & 1)


def check_frequencies(case: Case, tally: Any, seed: int) -> None:
    """Compare the likelihoods of the most frequent action sequences with their frequencies."""
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        counted = frequencies(case.algorithm, case.stream, RUNS, rng)
        _compare_together(case, tally, counted, rng)
        for actions, count in counted.most_common(MOST):
            try:
                found = likelihood(case.algorithm, actions, case.stream, "float")
            except Exception:
                continue  # a refusal, or what the examination has written down
            share = count / RUNS
            spread = 7 * math.sqrt(share * (1 - share) / RUNS) + 60 / RUNS
            tally.counts["compared with runs"] += 1
            if not found.lower - spread <= share <= found.upper + spread:
                text = f"{actions} on {case.stream}: [{found.lower:.6g}, {found.upper:.6g}]"
                what = f"{text}, frequency {share:.6g} +- {spread:.2g}"
                tally.disagreements.append(("likelihood float against runs", what, case))


def _compare_together(case: Case, tally: Any, counted: Counter[tuple[int, ...]], rng: Any) -> None:
    """Compare with the frequencies of runs that the auditor lets advance together."""
    try:
        runs = run_together(case.algorithm, Stream.of(case.stream), TOGETHER, rng)
    except Distrust:
        return
    tally.counts["compared with the auditor's runs"] += 1
    found = Counter(tuple(runs.actions(number).tolist()) for number in range(TOGETHER))
    for actions in {*counted, *found}:
        one, other = counted[actions] / RUNS, found[actions] / TOGETHER
        middle = (counted[actions] + found[actions]) / (RUNS + TOGETHER)
        spread = 7 * math.sqrt(middle * (1 - middle) * (1 / RUNS + 1 / TOGETHER)) + 60 / TOGETHER
        if abs(one - other) > spread:
            what = f"{actions} on {case.stream}: {other:.6g} of runs instead of {one:.6g}"
            tally.disagreements.append(("runs together", what, case))
