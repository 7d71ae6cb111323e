"""Show one run of an algorithm: who is played when, what each decision uses, what rewards pay.

The picture has one line per arm and one box per play, as in Figure 1 of Azize and Basu (2022);
`|t=7` marks a decision before round 7. Then every decision with the rewards that each index uses,
every release with its noise, and in the end what each reward is charged in all. Of a policy in a
file it says the same, read off its own code: plays, draws, comparisons, charges, with their lines.
With --graph, not one run but every one: the public states with all that can be played, released and
charged between them, as text and, with --plot, as a picture.

examples:
  dpaudit explain adap_klucb
  dpaudit explain dp_se --arms 3 --epsilon 0.5 --seed 1
  dpaudit explain mine.py:Mine --horizon 40
  dpaudit explain my_bandit.py:Policy --horizon 8
  dpaudit explain adap_ucb --graph --plot states.svg
  dpaudit explain adap_ucb --float
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from dpaudit.parsing import TARGET, add_parameters

if TYPE_CHECKING:
    from dpaudit.core.algorithm import Algorithm
    from dpaudit.explain.record import Event
    from dpaudit.explain.states import StateGraph
    from dpaudit.symbolic.subject import CodeTarget as Code
    from dpaudit.target import Target

HELP = "show one run, illustrated: plays, releases, decisions, charges"
WIDTH = 80
SEED = 13  # with adap_klucb its first six rounds are those of the paper's Figure 1
FIRST_HORIZON = 12
LONGEST = 1 << 20
SECONDS = 60.0  # for one run of foreign code
Followed = TypeVar("Followed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; numbers are parsed later, so that errors share one form."""
    add = parser.add_argument
    add("target", metavar="TARGET", help=TARGET)
    add("--arms", metavar="K", help="number of arms (default 2)")
    add("--horizon", metavar="T", help="rounds (default 12, or as many as a decision needs)")
    add("--epsilon", metavar="E", help="privacy parameter, where the algorithm has it (1)")
    add(
        "--float",
        action="store_true",
        help="show instead the pair of streams that breaks pure epsilon in doubles, replayed",
    )
    add("--graph", action="store_true", help="show instead the graph of all public states")
    add("--plot", metavar="FILE", help="with --graph: draw it into a .png, .svg or .pdf file")
    add_parameters(parser)
    add("--seed", metavar="S", default=str(SEED), help=f"seed of rewards and noise ({SEED})")


def execute(arguments: argparse.Namespace) -> int:
    """Print the illustrated run."""
    from rich.console import Console
    from rich.markup import escape

    from dpaudit.errors import InvalidArgument, require_integer
    from dpaudit.parsing import integer, number, parameters_of
    from dpaudit.plotting import require_picture
    from dpaudit.process import answer

    if arguments.plot and not arguments.graph:
        raise InvalidArgument("plot", arguments.plot, "is for --graph.")
    require_picture(arguments.plot)
    given = parameters_of(arguments)
    if arguments.arms is not None:
        given["arms"] = integer("arms", arguments.arms)
    if arguments.epsilon is not None:
        given["epsilon"] = number("epsilon", arguments.epsilon)
    seed = integer("seed", arguments.seed)
    require_integer("seed", seed, 0)
    horizon = None
    if arguments.horizon is not None:
        horizon = integer("horizon", arguments.horizon)
        require_integer("horizon", horizon, 1)
        if horizon > LONGEST:
            raise InvalidArgument("horizon", horizon, f"must be at most {LONGEST:,}.")
    out = Console(highlight=False)
    if not out.is_terminal:
        out.width = WIDTH
    asked: dict[str, Any] = {"target": arguments.target, "given": given, "horizon": horizon}
    width = min(out.width, 100)
    if arguments.graph:
        shown = _graph(answer(arguments.target, graphed, asked, SECONDS), width, arguments.plot)
    else:
        asked |= {"seed": seed, "width": width, "doubles": arguments.float}
        shown = answer(arguments.target, explained, asked, SECONDS)
    for text, style in shown:
        out.print(escape(fitted(text, width)), style=style or None, soft_wrap=True)
    return 0


def fitted(text: str, width: int) -> str:
    """Return a line as lines of a width, the later ones set in by two more."""
    if len(text) <= width or "\n" in text:
        return text
    below = " " * (len(text) - len(text.lstrip()) + 2)
    return "\n".join(textwrap.wrap(text, width, subsequent_indent=below, break_on_hyphens=False))


def explained(
    tell: Any,
    target: str,
    given: dict[str, Any],
    horizon: int | None,
    seed: int,
    width: int,
    doubles: bool = False,
) -> list[tuple[str, str]]:
    """Return the lines of the picture, the story and the charges, each with its style."""
    from dpaudit.target import resolve

    if doubles:
        from dpaudit.explain.doubles import breaking_pair
        from dpaudit.explain.doubles import lines as of_pair

        declared = build(resolve(target), given, horizon or FIRST_HORIZON)
        return list(of_pair(breaking_pair(declared), target, width))
    if code := code_of(target, given, horizon or FIRST_HORIZON):
        from dpaudit.symbolic.reading import read

        return followed(code, lambda: read(code, code.horizon, seed))
    found = resolve(target)
    if horizon is None:
        algorithm, horizon, events = with_decision(found, given, seed)
    else:
        algorithm = build(found, given, horizon)
        events = record(algorithm, horizon, seed)
    return list(lines(found, algorithm, horizon, events, seed, width))


def graphed(
    tell: Any, target: str, given: dict[str, Any], horizon: int | None
) -> tuple[str, StateGraph]:
    """Return the graph of a declaration, or of the one that code is, and its heading."""
    from dpaudit.explain.states import explore
    from dpaudit.symbolic.declared import read_off
    from dpaudit.target import resolve

    rounds = horizon or max(FIRST_HORIZON, 3 * given.get("arms", 2))
    if code := code_of(target, given, rounds):
        graph = followed(code, lambda: explore(read_off(code, rounds)[0], rounds))
    else:
        graph = explore(build(resolve(target), given, rounds), rounds)
        while not (horizon or graph.decides or 2 * rounds > LONGEST):
            rounds *= 2
            graph = explore(build(resolve(target), given, rounds), rounds)
    return f"{target}: the public states of every run of {rounds:,} rounds", graph


def _graph(found: Any, width: int, plot: str | None) -> list[tuple[str, str]]:
    """Draw a graph if asked, and return its lines."""
    from pathlib import Path

    import msgspec

    from dpaudit.explain.diagram import draw
    from dpaudit.explain.states import StateGraph, lines

    heading, graph = msgspec.convert(found, tuple[str, StateGraph])
    if plot:
        draw(graph, heading, Path(plot))
    return [(heading, "bold"), *lines(graph, width)]


def code_of(target: str, given: dict[str, Any], horizon: int) -> Code | None:
    """Return the code that TARGET names, to be run on symbols; None for what is declared."""
    from dpaudit.subject.kinds import Foreign
    from dpaudit.subject.naming import subject_of
    from dpaudit.symbolic import subject
    from dpaudit.target import MUTANTS, foreign

    if not (foreign(target) or target.startswith(MUTANTS)):
        return None
    if not isinstance(subject_of(target), Foreign) or not subject.readable(target):
        return None
    arms, epsilon = int(given.get("arms", 2)), float(given.get("epsilon", 1.0))
    return subject.CodeTarget(target, arms, horizon, epsilon)


def followed(code: Code, reading: Callable[[], Followed]) -> Followed:
    """Return what a reading of code on symbols gives; what cannot be followed costs one line."""
    from dpaudit.errors import Unsupported
    from dpaudit.symbolic.run import Escape

    try:
        return reading()
    except Escape as stop:
        raise Unsupported(f"TARGET={code.text} cannot be read on symbols: {stop}.") from None


def build(target: Target, given: dict[str, Any], horizon: int) -> Algorithm:
    """Return the algorithm for a horizon."""
    from dpaudit.target import OFFERED

    return target.build(horizon, given, OFFERED)


def record(algorithm: Algorithm, horizon: int, seed: int) -> list[Event]:
    """Return the events of a run on random rewards."""
    import numpy as np

    from dpaudit.core.environments import of_means
    from dpaudit.core.sampled import SampledRewards
    from dpaudit.details.regret import environment_of
    from dpaudit.explain.record import Recorder

    rng = np.random.default_rng(seed)
    rewards = SampledRewards(of_means(environment_of(algorithm.arms)), rng)
    return Recorder(algorithm, horizon, rewards, rng).run()


def with_decision(
    target: Target, given: dict[str, Any], seed: int
) -> tuple[Algorithm, int, list[Event]]:
    """Return the run of the first horizon, doubled as often as needed, that decides something."""
    from dpaudit.explain.record import RecordedDecision

    horizon = max(FIRST_HORIZON, 3 * given.get("arms", 2))
    while True:
        algorithm = build(target, given, horizon)
        events = record(algorithm, horizon, seed)
        decided = any(isinstance(event, RecordedDecision) for event in events)
        if decided or 2 * horizon > LONGEST:
            return algorithm, horizon, events
        horizon *= 2


def lines(
    target: Target, algorithm: Algorithm, horizon: int, events: list[Event], seed: int, width: int
) -> Iterator[tuple[str, str]]:
    """Yield the picture, the story and the charges."""
    from dpaudit.details.compute import sentence
    from dpaudit.details.regret import environment_of
    from dpaudit.explain import draw
    from dpaudit.target import parameters

    title = sentence(algorithm)
    for line in draw.paragraph(f"{target.label}: {title}" if title else target.label, width):
        yield line, "bold"
    values = ", ".join(f"{name} {value}" for name, value in parameters(algorithm).items())
    means = ", ".join(f"{mean:g}" for mean in environment_of(algorithm.arms)[:8])
    for line in draw.paragraph(
        f"One run of {horizon:,} rounds with {values}. Rewards are 0 or 1 with means {means}; "
        f"seed {seed}.",
        width,
    ):
        yield line, ""
    yield "\nThe run: a box is a play, its rewards inside; |t= marks a decision.\n", "bold"
    for line in draw.picture(events, algorithm.arms, width):
        yield line, "cyan"
    yield "What happens", "bold"
    for line in draw.story(events, width):
        yield line, "green" if line.endswith(("<- chosen", "<- stays")) else ""
    yield "\nWhat each reward is charged: how much a change of it can cost at most\n", "bold"
    claimed = algorithm.claim.notion
    runs = draw.charges(events, horizon)
    for line in draw.ledger(runs, claimed):
        yield line, ""
    for line in draw.paragraph(draw.conclusion(runs, claimed), width):
        yield line, ""
