"""What every declaration is put through: whoever answers must agree with whoever else does.

A refusal (`DpauditError`, `Distrust`) is counted by its reason; any other exception, and any two
answers that cannot both be right, is a disagreement. Nothing here raises.
"""

from __future__ import annotations

import math
import re
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import oracle
from acting import compare_runs
from cases import Case

from dpaudit.core.canonical import Distrust
from dpaudit.errors import DpauditError
from dpaudit.exact import Likelihood, likelihood, worst_loss
from dpaudit.exact.search import Streams
from dpaudit.structure import bound

Actions = tuple[int, ...]
Pair = tuple[Actions, tuple[float, ...], tuple[float, ...]]
ROUNDS = (0, 4, 10)  # of the oracle's halving: further only where it does not agree
CLOSE = (3e-4, 1e-4, 1e-4)  # with which the oracle is content at that round
ERRORS = {0: 4e-3, 4: 4e-4, 10: 1e-5}  # of its probabilities, generously
LEAST = 1e-4  # probability whose logarithm the oracle speaks of
SECONDS = 0.15  # of one search for the largest loss
STREAMS: tuple[Streams, ...] = ("real", "binary")  # that are searched
MOST_CERTIFIED = {False: 6, True: 2}  # action sequences, by whether a decision reads sums


@dataclass
class Tally:
    """Counts and disagreements of many declarations."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    disagreements: list[tuple[str, str, Case]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Take over what another tally counted."""
        self.counts += other.counts
        self.refusals += other.refusals
        self.disagreements += other.disagreements


@dataclass
class Examination:
    """One case under examination."""

    case: Case
    tally: Tally

    def disagree(self, check: str, text: str) -> None:
        """Write a disagreement down."""
        self.tally.disagreements.append((check, text, self.case))

    def ask(self, who: str, question: Callable[[], Any]) -> Any:
        """Return an answer, or None where it is refused; count it, or how it failed."""
        try:
            return question()
        except (DpauditError, Distrust) as refusal:
            self.tally.refusals[f"{who.split()[0]}: {normal(str(refusal))}"] += 1
        except oracle.Declined as reason:
            self.tally.counts[f"oracle declines: {reason}"] += 1
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            self.disagree(f"{who} raised", f"{type(error).__name__}: {error} ({place})")
        return None


def normal(reason: str) -> str:
    """Return a reason without its numbers and names."""
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "#", reason.split(": ")[0])[:90]


def examine(case: Case, tally: Tally, thorough: bool = False) -> None:
    """Put a declaration through every check."""
    tally.counts["declarations"] += 1
    exam = Examination(case, tally)
    with np.errstate(all="ignore"):
        paths = exam.ask("paths", lambda: oracle.all_paths(case.algorithm, case.horizon))
        if paths is None:
            return
        truth = Truth(case, paths)
        check_likelihoods(exam, truth)
        check_losses(exam, truth, thorough)
        compare_runs(exam)


class Truth:
    """The oracle's law of one case, computed where it is asked for and no finer than needed."""

    def __init__(self, case: Case, paths: list[oracle.Path]) -> None:
        self.case = case
        self.paths: dict[Actions, list[oracle.Path]] = {}
        for path in paths:
            self.paths.setdefault(path.actions, []).append(path)
        self.known: dict[Any, float] = {}
        self.sums = any(len(g) > 1 for path in paths for *_, shown in path.decisions for g in shown)

    def value(self, actions: Actions, stream: Any, rounds: int = 0) -> float:
        """Return the probability of an action sequence."""
        return math.fsum(self.path(path, stream, rounds) for path in self.paths.get(actions, ()))

    def path(self, path: oracle.Path, stream: Any, rounds: int) -> float:
        """Return the probability of a path, which knows a stream by its centres alone."""
        centres = tuple(
            (math.fsum(stream[t] for t in steps) / over) for steps, over, _ in path.releases
        )
        key = (id(path), centres, rounds)
        if key not in self.known:
            self.known[key] = oracle.Integral(path, stream, rounds).value
        return self.known[key]

    def contradicts(self, actions: Actions, stream: Any, low: float, high: float) -> str:
        """Return why the probability is not within [low, high], or nothing."""
        before = math.nan
        for rounds, close in zip(ROUNDS, CLOSE, strict=True):
            value = self.value(actions, stream, rounds)
            off = max(low - value, value - high, 0.0)
            if off <= close * min(1.0, 10 * (value + high)):
                return ""
            moved, before = abs(value - before), value
        if off <= 1e-4 + 5 * moved:
            return ""
        return f"oracle {value:.6g} (last change {moved:.1g})"

    def loss(self, pair: Pair, rounds: int) -> tuple[float, float]:
        """Return |log ratio| on a pair of streams and its error."""
        actions, *streams = pair
        a, b = (self.value(actions, stream, rounds) for stream in streams)
        if min(a, b) < LEAST:
            return (math.inf if max(a, b) > 0.01 and min(a, b) == 0 else math.nan), 0.0
        error = 0.0
        if rounds == ROUNDS[-1]:
            coarse = self.loss(pair, ROUNDS[-2])[0]
            error = 5 * abs(math.log(a / b) - math.copysign(coarse, a - b))
        return abs(math.log(a / b)), error + ERRORS[rounds] * (1 / a + 1 / b)

    def differs(self, pair: Pair, low: float, high: float) -> str:
        """Return why the loss on a pair is not within [low, high], or nothing."""
        for rounds in ROUNDS:
            loss, error = self.loss(pair, rounds)
            if math.isnan(loss) or low - error <= loss <= high + error:
                return ""
        return f"oracle {loss:.6g} with error {error:.1g} on {pair}"


def check_likelihoods(exam: Examination, truth: Truth) -> None:
    """Compare the likelihoods of every action sequence on the stream; they sum to 1."""
    case, tally = exam.case, exam.tally
    answers: dict[str, dict[Actions, Likelihood]] = {"ball": {}, "float": {}}
    for number, actions in enumerate(truth.paths):
        for engine, known in answers.items():
            if engine == "ball" and number >= MOST_CERTIFIED[truth.sums]:
                continue
            found = exam.ask(
                f"likelihood {engine}",
                lambda a=actions, e=engine: likelihood(case.algorithm, a, case.stream, e),
            )
            if found is None:
                continue
            known[actions] = found
            tally.counts["certified" if found.certified else f"floating ({engine})"] += 1
            text = f"{actions} on {case.stream}: {engine} [{found.lower:.6g}, {found.upper:.6g}]"
            why = exam.ask(
                "oracle",
                lambda a=actions, f=found: truth.contradicts(a, case.stream, f.lower, f.upper),
            )
            tally.counts["compared with the oracle"] += why is not None
            if why:
                exam.disagree(f"likelihood {engine} against oracle", f"{text}, {why}")
        pair = [known[actions] for known in answers.values() if actions in known]
        if len(pair) == 2 and max(p.lower for p in pair) > min(p.upper for p in pair) + 1e-9:
            exam.disagree("ball against float", f"{actions} on {case.stream}: {pair}")
    for engine, known in answers.items():
        if len(known) == len(truth.paths):
            low = math.fsum(found.lower for found in known.values())
            high = math.fsum(found.upper for found in known.values())
            tally.counts[f"sums to 1 ({engine})"] += 1
            if low > 1 + 1e-9 or high < 1 - 1e-9:
                exam.disagree(f"sum of likelihoods {engine}", f"[{low}, {high}] on {case.stream}")


def check_losses(exam: Examination, truth: Truth, thorough: bool) -> None:
    """Compare the largest losses with brute force over binary streams, and with the charges."""
    case, tally = exam.case, exam.tally
    algorithm, horizon = case.algorithm, case.horizon
    short = horizon <= 4 or thorough
    brute = exam.ask("oracle", lambda: brute_pairs(truth, horizon)) if short else None
    charged = exam.ask("structure", lambda: bound(algorithm, horizon, budget=SECONDS))
    charge = float(charged.charge) if charged is not None and charged.complete else math.inf
    tally.counts["charges"] += charge < math.inf
    least = [("charge below a loss", f"charge {charge}", charge)]
    most = []
    for streams in STREAMS:
        who = f"worst_loss {streams}"
        found = exam.ask(
            who, lambda s=streams: worst_loss(algorithm, horizon, streams=s, budget=SECONDS)
        )
        if found is None:
            continue
        loss = found.loss
        text = f"{who} [{loss.lower:.6g}, {loss.upper:.6g}] ({found.method}; {found.covers})"
        tally.counts["loss certified" if loss.certified else "loss floating"] += 1
        if loss.lower > charge + 1e-9:
            exam.disagree("charge below a loss", f"charge {charge}, {text}")
        least.append(("loss below brute force", text, loss.upper))
        if streams == "binary":
            most.append((text, loss.lower))
        if found.witness is not None:
            check_witness(exam, truth, text, found)
    if not brute:
        return
    tally.counts["brute force"] += 1
    largest = max(brute, key=lambda known: _sure(known[0] - known[1] / 2))
    for check, text, high in least:
        why = exam.ask("oracle", lambda hi=high: truth.differs(largest[2], 0.0, hi))
        if why:
            exam.disagree(check, f"{text}, {why}")
    for text, low in most:
        # some pair must reach it; those that are surely smaller are not looked at again
        said = exam.ask("oracle", lambda lo=low: reached(truth, brute, lo))
        if said is False:
            exam.disagree("loss above brute force", f"{text}, {largest}")


def _sure(loss: float) -> float:
    return -1.0 if math.isnan(loss) else loss


def reached(truth: Truth, brute: list[tuple[float, float, Pair]], low: float) -> bool:
    """Tell whether some pair may lose that much, as closely as the oracle can tell."""
    for _, _, pair in sorted(brute, key=lambda known: -_sure(known[0])):
        found = (truth.loss(pair, rounds) for rounds in ROUNDS)
        if not any(loss + error < low for loss, error in found):
            return True
    return False


def check_witness(exam: Examination, truth: Truth, text: str, found: Any) -> None:
    """Compare a witness's loss, and the lower end that it attains, with the oracle's."""
    witness = found.witness
    pair = (witness.actions, witness.stream, witness.neighbour)
    low, high = max(witness.loss.lower, found.loss.lower), witness.loss.upper
    why = exam.ask("oracle", lambda: truth.differs(pair, low, max(low, high)))
    exam.tally.counts["witnesses"] += why is not None
    if why:
        exam.disagree("witness", f"{text}: {witness.loss}, {why}")


def brute_pairs(truth: Truth, horizon: int) -> list[tuple[float, float, Pair]]:
    """Return the losses of all pairs of binary streams that the oracle sees, and their errors.

    What is too small for it has no loss; it counts where a pair that loses much is asked for.
    """
    found = []
    for actions in truth.paths:
        for stream in product((0.0, 1.0), repeat=horizon):
            for t in (t for t in range(horizon) if stream[t] == 0):
                pair = (actions, stream, (*stream[:t], 1.0, *stream[t + 1 :]))
                found.append((*truth.loss(pair, 0), pair))
    return found
