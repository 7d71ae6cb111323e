"""From command-line options to a plan: which target, which pairs, how many runs."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from dpaudit import documents
from dpaudit.core import compiled
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.arithmetic import at_least, in_digits
from dpaudit.core.lockstep import decisions
from dpaudit.core.mutants import find as find_mutant
from dpaudit.core.perstep import PerStep
from dpaudit.errors import DpauditError, InvalidArgument, require_integer, require_positive
from dpaudit.parsing import parameters_of
from dpaudit.patience import LONGEST, require_soon
from dpaudit.sample.block import judge
from dpaudit.sample.boxes import Box, DeclaredBox, PolicyBox, file_box, load_object, mutant_box
from dpaudit.sample.codec import event_of, pair_of
from dpaudit.sample.events import in_words
from dpaudit.sample.independence import Independence
from dpaudit.sample.lower import epsilon_lower
from dpaudit.sample.plan import LEAST_RUNS, AuditPlan, in_lockstep
from dpaudit.sample.steer import steered
from dpaudit.sample.streams import Pair, candidates
from dpaudit.sample.together import places
from dpaudit.target import MUTANTS, Target, require_file, resolve

MEASURED = 256  # runs in lockstep whose time is taken
MOST_PLACES = 2 * 10**6  # that runs of an audit may part to, if they are interpreted
CROWDED = 100  # of them in a run: too many for long ones
FEW_STEPS = 2000  # of a run after the changed reward, where every step is a decision
PLAYS_OF_ARM = 32  # steps for every arm, where such runs are interpreted
BINARY, UNIT = (0.0, 1.0), (0.0, 0.5, 1.0)
MOST_ROUNDS = 10**7  # that a report may ask a replay for
MOST_PREFIXES = 4  # that leads may ask for


def box_of(arguments: argparse.Namespace) -> Box:
    """Return the box that TARGET names: a declared algorithm, or foreign code in a file."""
    require_positive("epsilon", arguments.epsilon)
    place, colon, name = arguments.target.rpartition(":")
    if arguments.target.startswith(MUTANTS):
        mutant = find_mutant(arguments.target.removeprefix(MUTANTS))
        if not mutant.declared:
            return mutant_box(mutant, *_policy(arguments))
    if not colon or not place.endswith(".py"):
        return _declared(resolve(arguments.target), arguments)
    require_file(arguments.target, place)
    found = load_object(str(Path(place)), name)
    if isinstance(found, Algorithm) or (isinstance(found, type) and issubclass(found, Algorithm)):
        box = _declared(Target(arguments.target, found), arguments)
        return replace(box, file=str(Path(place)))
    return file_box(arguments.target, *_policy(arguments))


def _policy(arguments: argparse.Namespace) -> tuple[int, int, float, float]:
    """Return arms, horizon, epsilon and time limit for code that is not declared."""
    for given in parameters_of(arguments).items():
        raise InvalidArgument(*given, "is for declared algorithms only.")
    require_positive("time-limit", arguments.time_limit)
    arms = 2 if arguments.arms is None else arguments.arms
    horizon = 100 if arguments.horizon is None else arguments.horizon
    if arguments.horizon is None and arguments.pair:
        horizon = pair_of(read_json("pair", arguments.pair[0])).stream.horizon
    return arms, horizon, arguments.epsilon, arguments.time_limit


def _declared(target: Target, arguments: argparse.Namespace) -> DeclaredBox:
    arms = 2 if arguments.arms is None else arguments.arms
    horizon = 100_000 if arguments.horizon is None else arguments.horizon
    offered = {"arms": arms, "epsilon": arguments.epsilon}
    given: dict[str, Any] = {k: value for k, value in offered.items() if k in target.accepts}
    given |= parameters_of(arguments)
    return DeclaredBox(target.build(horizon, given), horizon, called=target.text)


def default_runs(box: Box) -> int:
    """Return how many runs to spend if the user does not say: about a minute's worth.

    Where runs are interpreted together, they cost as much as there are places that they part to.
    """
    if not isinstance(box, DeclaredBox):
        return max(2_000, min(20_000, 5 * 10**6 // box.horizon))
    if compiled.supports(box.algorithm):
        return 20_000
    if decisions(box.algorithm, box.horizon) is not None:
        return 60_000
    steps = min(box.horizon, _steps(box))
    return max(4_000, min(60_000, int(MOST_PLACES / places(box.algorithm, steps))))


def pairs_of(arguments: argparse.Namespace, box: Box) -> tuple[Pair, ...]:
    """Return the pairs to try: the user's own if there are any, else the usual ones.

    Runs that decide at every step go on for some steps after the changed reward; those that are
    interpreted and part to many places are their first steps alone.
    """
    if arguments.pair:
        return tuple(pair_of(read_json("pair", path)) for path in arguments.pair)
    steps, horizon = _steps(box), box.horizon
    if isinstance(box, DeclaredBox) and not compiled.supports(box.algorithm):
        horizon = min(horizon, steps)  # late rewards cost too much
    pairs = candidates(box.arms, horizon, [arguments.seed, 2], rewards_of(arguments))
    return tuple(pair.first(pair.position + 1 + steps) for pair in pairs)


def _steps(box: Box) -> int:
    """Return the steps after a changed reward that can be afforded."""
    if not isinstance(box, DeclaredBox):
        return box.horizon
    if compiled.supports(box.algorithm):
        return FEW_STEPS
    if isinstance(box.algorithm, PerStep):
        return PLAYS_OF_ARM * box.arms
    crowded = decisions(box.algorithm, box.horizon) is None and (
        places(box.algorithm, box.horizon) > CROWDED
    )
    return FEW_STEPS if crowded else box.horizon


def rewards_of(arguments: argparse.Namespace) -> tuple[float, ...]:
    """Return the rewards that streams are made of."""
    return UNIT if arguments.rewards == "unit" else BINARY


class Lead(Protocol):
    """Where a failed proof of code points: a pair of streams, and the rounds to look at."""

    @property
    def stop(self) -> int:
        """The number of first actions that should tell."""

    def pair(self, horizon: int) -> Pair:
        """Return the pair for runs of a horizon."""


Leads = Callable[[PolicyBox, float], Sequence[Lead]]


def plan_of(arguments: argparse.Namespace, leads: Leads = lambda box, epsilon: ()) -> AuditPlan:
    """Return the plan of an audit; `leads(box, epsilon)` says where to look in foreign code."""
    require_integer("seed", arguments.seed, 0)
    box = box_of(arguments)
    pairs = pairs_of(arguments, box)
    runs = default_runs(box) if arguments.runs is None else arguments.runs
    require_integer("runs", runs, 1)
    accepted = arguments.yes or arguments.budget is not None or arguments.resume is not None
    # a policy that cannot run at all says so here, before workers are started
    require_soon(expected_seconds(box, pairs[0], runs) / arguments.jobs, accepted)
    aimed: list[Pair] = []
    if isinstance(box, DeclaredBox) and not arguments.pair:
        seed = [arguments.seed, 5]
        aimed = steered(box.algorithm, box.horizon, seed, runs // 5, rewards=rewards_of(arguments))
    prefixes = tuple(stop for path in arguments.pair for stop in _prefixes(path))
    if isinstance(box, PolicyBox) and not arguments.pair:
        room = runs // LEAST_RUNS - len(pairs)
        found = list(leads(box, arguments.epsilon))[: max(room, 0)]
        aimed = list(dict.fromkeys(lead.pair(box.horizon) for lead in found))
        prefixes = tuple(sorted({lead.stop for lead in found}))[:MOST_PREFIXES]
    return AuditPlan(
        box,
        arguments.epsilon,
        arguments.error,
        runs,
        arguments.seed,
        (*aimed, *pairs),
        arguments.delta,
        prefixes=prefixes,
        favoured=len(aimed),
        events=arguments.events,
    )


def expected_seconds(box: Box, pair: Pair, runs: int) -> float:
    """Return about how long so many runs take, measured on a few of them."""
    part = min(runs, MEASURED) if in_lockstep(box) else 1
    expected = _seconds(box, pair, part) * runs / part
    # what is compiled or imported was so the first time
    return expected if expected <= LONGEST else _seconds(box, pair, part) * runs / part


def _seconds(box: Box, pair: Pair, runs: int) -> float:
    start = time.process_time()  # what a busy machine adds is no reason to refuse
    box.run(pair.stream, runs, np.random.SeedSequence(0, spawn_key=(3,)))
    return time.process_time() - start


def _prefixes(path: str) -> list[int]:
    """Return the event that a trace offers with a pair: how many first actions to look at."""
    given = read_json("pair", path).get("prefixes", [])
    stops = given if isinstance(given, list) else [given]
    for stop in stops:
        require_integer("prefixes", stop, 1)
    return stops


def read_json(name: str, path: str) -> Any:
    """Return the content of a JSON file."""
    return documents.read(Path(path), name)


def same_code(one: dict[str, Any], other: Any) -> bool:
    """Tell whether two identities name the same code; packages may have other versions."""
    return isinstance(other, dict) and one == {**other, "packages": one.get("packages")}


def replayed(arguments: argparse.Namespace) -> tuple[list[str], bool]:
    """Judge the witness of a report on new runs; return what to print and whether it is refuted."""
    report = read_json("replay", arguments.replay)
    witness = report.get("witness") if isinstance(report, dict) else None
    if isinstance(report, dict) and report.get("dpaudit") == "witness":
        rule = "holds likelihoods: `dpaudit replay FILE --target TARGET` computes them anew."
        raise InvalidArgument("replay", arguments.replay, rule)
    if not witness:
        raise InvalidArgument("replay", arguments.replay, "holds no witness.")
    try:
        pair, event = pair_of(witness["pair"]), event_of(witness["event"])
        arguments.horizon, arguments.arms = int(report["horizon"]), int(report["arms"])
        arguments.epsilon, delta = float(witness["epsilon"]), float(witness["delta"])
        rounds, swapped, target = int(witness["rounds"]), witness["swapped"], witness["target"]
        possible = swapped in (0, 1) and 0 <= delta < 1 and 0 < rounds <= MOST_ROUNDS
        if not possible:
            raise ValueError
    except DpauditError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError):
        rule = "holds a witness with parts missing or wrong."
        raise InvalidArgument("replay", arguments.replay, rule) from None
    box = box_of(arguments)
    if not same_code(box.identity(), target):
        raise InvalidArgument("replay", arguments.replay, "is a witness against another target.")
    rounds = max(rounds, 100) if arguments.runs is None else arguments.runs // 2
    require_integer("runs", rounds, 1)
    independence = Independence(box, arguments.seed)
    try:
        # the first element of the key keeps replays apart from every run of an audit
        found = judge(box, pair, (event,), rounds, (4,), arguments.seed)
        independence.keep(pair, (4,), rounds, found)
        doubt = independence.confirm([pair])
    finally:
        independence.close()
    [[[[_, hits], [_, hits_neighbour]]]] = found.counts
    if swapped:
        hits, hits_neighbour = hits_neighbour, hits
    lower = epsilon_lower(hits, hits_neighbour, rounds, arguments.error, delta)
    shown = lower > arguments.epsilon
    verdict = "not refuted by these runs alone; spend more with --runs"
    if shown:
        verdict = f"not refuted: {doubt}" if doubt else "REFUTED again"
    names = ("neighbour", "stream") if swapped else ("stream", "neighbour")
    at = f" with delta = {in_digits(delta)}" if delta else ""
    lines = [
        f"pair   {pair.name}",
        f"event  {in_words(event, box.arms)}",
        f"       {hits:,} of {rounds:,} runs on the {names[0]}",
        f"       {hits_neighbour:,} of {rounds:,} runs on the {names[1]}",
        f"epsilon >= {at_least(lower, 4)}{at} at error {in_digits(arguments.error)}; "
        f"claimed {in_digits(arguments.epsilon)}",
        f"independence: {independence.words}",
        verdict,
    ]
    return lines, shown and not doubt
