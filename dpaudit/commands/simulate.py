"""Simulate an algorithm: regret, pull counts, releases over independent runs.

The same seed gives the same numbers for any number of jobs. Horizons may be written as 1e7. An
index that ties goes to the first arm, which in C1 to C4 and regimes is the best one: give --means
in another order to see what ties are worth.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpaudit.parsing import TARGET, add_parameters
from dpaudit.patience import add_yes, require_soon

if TYPE_CHECKING:
    from dpaudit.core.environments import Environment
    from dpaudit.core.simulate import SimulationResult

HELP = "run an algorithm many times and report its regret"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; numbers are parsed later, so that errors share one form."""
    add = parser.add_argument
    add("algorithm", metavar="TARGET", help=TARGET)
    add("--env", metavar="ENV", help="C1, C2, C3, C4 or regimes (default C2)")
    add("--means", metavar="M,M,...", help="mean rewards of the arms, such as 0.9,0.5")
    add("--features", metavar="A,A;A,A", help="a linear bandit: features of the arms, row by row")
    add("--theta", metavar="X,X,...", help="its parameter: the mean of an arm is <features, theta>")
    add("--rewards", default="bernoulli", metavar="LAW", help="bernoulli, beta, truncated_gaussian")
    add("--epsilon", metavar="E", help="privacy budget, where the algorithm has one (default 1)")
    add_parameters(parser)
    add("--horizon", default="1e6", metavar="T", help="rounds of a run (default 1e6)")
    add("--runs", default="100", metavar="N", help="independent runs (default 100)")
    add("--seed", default="0", metavar="S", help="seed (default 0)")
    add("--jobs", default="1", metavar="J", help="processes (default 1)")
    add_yes(parser)
    add("--per-run", action="store_true", help="add the pull counts of every run to the JSON")
    add("--json", metavar="FILE", help="write JSON to FILE, or to stdout for -")
    add("--plot", metavar="FILE", help="draw the regret curve into a .png, .svg or .pdf file")


def execute(arguments: argparse.Namespace) -> int:
    """Simulate, then print a table or JSON."""
    from dpaudit import plotting
    from dpaudit.errors import InvalidArgument
    from dpaudit.output import mark_of, progress, require_writable, write_json
    from dpaudit.parsing import integer, number, parameters_of
    from dpaudit.report import console
    from dpaudit.simulation import Simulation, show

    require_writable(arguments.json, mark_of("simulation"))
    plotting.require_picture(arguments.plot)
    environment = _environment(arguments)
    horizon = integer("horizon", arguments.horizon)
    runs, seed = integer("runs", arguments.runs), integer("seed", arguments.seed)
    jobs = integer("jobs", arguments.jobs)
    if horizon < environment.arms:
        rule = f"must be at least {environment.arms}: one round per arm."
        raise InvalidArgument("horizon", horizon, rule)
    values = parameters_of(arguments)
    offered = {} if arguments.features is None else {"features": _features(arguments)}
    if arguments.epsilon is not None:
        values["epsilon"] = number("epsilon", arguments.epsilon)
    partial: list[SimulationResult] = []
    with progress(f"simulate {arguments.algorithm}", total=runs) as advance:
        means, law = environment.means, arguments.rewards
        work = Simulation(arguments.algorithm, values, means, law, offered)
        if not arguments.yes:
            require_soon(work.seconds(horizon, runs, jobs))
        try:
            result = work.run(horizon, runs, seed, jobs, advance, partial.append)
        except KeyboardInterrupt:
            if not partial:
                raise
            result = partial[-1]
    if arguments.plot:
        plotting.save_curve(result, arguments.plot)
    if arguments.json:
        summary = result.summary() | {"interrupted": bool(partial)}
        if arguments.per_run:
            summary["pulls_per_run"] = result.pulls_per_run.tolist()
        write_json(summary, arguments.json, "simulation")
    if arguments.json != "-":
        show(console(quiet=False), result)
    if partial:
        done = f"the {result.runs:,} of {runs:,} runs that were finished are kept"
        sys.stderr.write(f"dpaudit: interrupted; {done}.\n")
        return 130
    return 0


def _features(arguments: argparse.Namespace) -> tuple[tuple[float, ...], ...]:
    from dpaudit.parsing import matrix

    return matrix("features", arguments.features)


def _environment(arguments: argparse.Namespace) -> Environment:
    from dpaudit.core.environments import linear_means, named, of_means, parse_means
    from dpaudit.errors import InvalidArgument
    from dpaudit.parsing import numbers

    given = [name for name in ("env", "means", "features") if getattr(arguments, name) is not None]
    if len(given) > 1:
        rule = f"cannot be combined with --{given[0]}."
        raise InvalidArgument(given[1], getattr(arguments, given[1]), rule)
    if (arguments.features is None) != (arguments.theta is None):
        raise InvalidArgument("theta", arguments.theta, "and --features go together.")
    if arguments.features is not None:
        theta = numbers("theta", arguments.theta)
        return of_means(linear_means(_features(arguments), theta), arguments.rewards)
    if arguments.means is not None:
        return of_means(parse_means(arguments.means), arguments.rewards)
    return named(arguments.env or "C2", arguments.rewards)
