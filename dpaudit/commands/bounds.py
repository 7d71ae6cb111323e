"""Regret bounds of private bandits: what privacy must cost, and what an algorithm guarantees.

Prints every lower and upper bound for an instance, as the paper states it and in the sharpest form
established, each with the claim behind it (`dpaudit prove`). With --runs, simulated regret beside
them. Asymptotic lower bounds are liminf statements: at one horizon only the rows of scope `finite`
may be held against a simulated regret.

  dpaudit bounds --env C2 --epsilon 1 --horizon 1e7
  dpaudit bounds adap_klucb mine.py:Mine --runs 20
  dpaudit bounds mine.py:Mine --param width=0.5 --runs 20
  dpaudit bounds --env C1 C2 C3 C4 --epsilon 0.1 0.25 0.5 1 --runs 20
  dpaudit bounds --env regimes --plot regimes.png --range 0.05,10
  dpaudit bounds --law gaussian --means 0.5,0.2 --epsilon 0.5
  dpaudit bounds --support 0,0.5,1 --probabilities "0.2,0.3,0.5;0.5,0.3,0.2"
  dpaudit bounds --env C2 --rho 0.5
  dpaudit bounds --env C2 --local --epsilon 1
  dpaudit bounds --features "1,0;0,1;0.9,0.3" --theta 1,0.2 --runs 20
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from dpaudit.parsing import add_param
from dpaudit.patience import add_yes, require_soon

if TYPE_CHECKING:
    from dpaudit.regret_bounds.bound import Instance
    from dpaudit.regret_bounds.linear import LinearInstance
    from dpaudit.regret_bounds.table import Setting

HELP = "what privacy must cost in regret, and what an algorithm guarantees"
DEFAULT_RUNS = "20"
MOST_DRAWN = 4  # and three lines that are about every policy
Table = partial[dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; numbers are parsed later, so that errors share one form."""
    add = parser.add_argument
    add("targets", nargs="*", metavar="TARGET", help="whose bounds and regret to show")
    add("--env", nargs="+", metavar="ENV", help="C1, C2, C3, C4, regimes (default C2)")
    add("--means", metavar="M,M,...", help="mean rewards of the arms")
    add(
        "--law",
        default="bernoulli",
        metavar="LAW",
        help="bernoulli, gaussian, exponential, poisson",
    )
    add("--deviation", default="1", metavar="S", help="deviation of Gaussian rewards (default 1)")
    add("--support", metavar="X,X,...", help="points of finite reward laws")
    add("--probabilities", metavar="P,P;P,P", help="their probabilities, one group per arm")
    add("--features", metavar="A,A;A,A", help="arms of a Gaussian linear bandit")
    add("--theta", metavar="X,X,...", help="its parameter")
    add("--epsilon", nargs="+", default=["1"], metavar="E", help="privacy budgets (default 1)")
    add("--rho", metavar="R", help="lower bounds under rho-zCDP in place of epsilon")
    add("--local", action="store_true", help="lower bounds under local epsilon")
    add("--horizon", default="1e7", metavar="T", help="rounds (default 1e7)")
    add("--alpha", default="3.1", metavar="A", help="exploration of the AdaP algorithms")
    add_param(parser)
    add("--runs", metavar="N", help="simulate this many runs (default 0; 20 for a picture)")
    add("--seed", default="0", metavar="S", help="seed of the simulations (default 0)")
    add("--jobs", default="1", metavar="J", help="processes (default 1)")
    add("--json", metavar="FILE", help="write JSON to FILE, or to stdout for -")
    add("--plot", metavar="FILE", help="draw regret and every bound into a .png, .svg or .pdf")
    add("--against", default="epsilon", metavar="X", help="epsilon or horizon (default epsilon)")
    add("--range", metavar="LOW,HIGH", help="of the picture's horizontal axis")
    add_yes(parser)


def execute(arguments: argparse.Namespace) -> int:
    """Print tables, or write JSON or a picture."""
    from dpaudit import plotting
    from dpaudit.output import mark_of, require_writable, write_json

    require_writable(arguments.json, mark_of("bounds"))
    plotting.require_picture(arguments.plot)
    linear = arguments.features is not None or arguments.theta is not None
    other = arguments.rho is not None or arguments.local
    chosen = _other_notion if other else _linear if linear else _stochastic
    tables, picture = chosen(arguments)
    documents, left = _made(tables, picture, arguments.plot)
    if arguments.json:
        data = {"instances": documents, "interrupted": bool(left)}
        write_json(data, arguments.json, "bounds")
    if arguments.json != "-":
        from dpaudit.regret_bounds.render import show

        show(documents)
    if left:
        shown = f"kept in {arguments.json}" if arguments.json not in (None, "-") else "shown above"
        sys.stderr.write(f"dpaudit: interrupted; what is finished is {shown}, {left}.\n")
        return 130
    return 0


def _made(
    tables: list[Table], picture: Callable[[], None], plot: str | None
) -> tuple[list[dict[str, Any]], str]:
    """Return the tables, and what is left of the work after Ctrl-C: nothing, if it is empty."""
    from dpaudit.regret_bounds.document import TableInterrupted

    documents: list[dict[str, Any]] = []
    try:
        for table in tables:
            documents.append(table())
        left = f"{plot} is not drawn"
        picture()
    except TableInterrupted as stop:
        left = f"{len(tables) - len(documents)} of {len(tables)} instances are not finished"
        documents.append(stop.document)
    except KeyboardInterrupt:
        if not documents:
            raise
        if len(documents) < len(tables):
            left = f"{len(tables) - len(documents)} of {len(tables)} instances are left"
    else:
        left = ""
    return documents, left


def _settings(arguments: argparse.Namespace) -> list[Setting]:
    from dpaudit.errors import require_positive
    from dpaudit.parsing import assignment, integer, number
    from dpaudit.regret_bounds.table import ALGORITHMS, Setting

    given = dict(map(assignment, arguments.param))
    for name in given:
        if name in ("alpha", "arms", "epsilon", "horizon"):
            _refuse("param", name, "is said by the instance or by an option of that name.")
        declared = [it for it in arguments.targets if it in ALGORITHMS]
        if declared or not arguments.targets:
            rule = "is for TARGETs without bounds of their own, which hold as declared."
            _refuse("param", ", ".join([name, *declared]), rule)
    horizon, alpha = integer("horizon", arguments.horizon), number("alpha", arguments.alpha)
    budgets = [number("epsilon", text) for text in arguments.epsilon]
    for value in budgets:
        require_positive("epsilon", value)
    require_positive("alpha", alpha)
    return [Setting(value, horizon, alpha, given) for value in budgets]


def _stochastic(arguments: argparse.Namespace) -> tuple[list[Table], Callable[[], None]]:
    """Return what makes the table of every instance, and what draws the picture."""
    from dpaudit.core.environments import Bernoulli
    from dpaudit.regret_bounds import document, picture
    from dpaudit.regret_bounds.measured import expected

    settings, runs, seed, jobs = _settings(arguments), *_simulation(arguments)
    instances = _instances(arguments)
    algorithms = _algorithms(arguments, instances)
    if runs and not all(instance.simulable for instance in instances.values()):
        _refuse("runs", runs, "needs Bernoulli rewards: only their environment can be simulated.")
    axis = _axis(arguments)
    if runs and not arguments.yes:
        times = len(settings) + picture.SIMULATED * (arguments.plot is not None)
        environments = [Bernoulli(instance.means) for instance in instances.values()]
        require_soon(
            times
            * sum(
                expected(name, environment, settings[0], runs, jobs)
                for name in algorithms
                for environment in environments
            )
        )
    tables: list[Table] = [
        partial(document.describe, name, instance, setting, algorithms, runs, seed, jobs)
        for name, instance in instances.items()
        for setting in settings
    ]
    if not arguments.plot:
        return tables, lambda: None
    first = next(iter(instances.values())), settings[0], algorithms
    return tables, partial(picture.draw, *first, runs, seed, jobs, arguments.plot, *axis)


def _other_notion(arguments: argparse.Namespace) -> tuple[list[Table], Callable[[], None]]:
    """Return what makes the table of every instance under another notion, and no picture."""
    from dpaudit.parsing import number
    from dpaudit.regret_bounds import other_notions
    from dpaudit.regret_bounds.document import describe_notion

    if arguments.rho is not None and arguments.local:
        _refuse("claim", "--rho --local", "exclude each other.")
    for name in ("features", "theta", "plot", "runs", "targets"):
        if getattr(arguments, name):
            _refuse(name, getattr(arguments, name), "has no bounds under --rho or --local yet.")
    found: list[Table] = []
    for name, instance in _instances(arguments).items():
        if not instance.simulable:
            _refuse("law", arguments.law, "must be bernoulli under --rho or --local.")
        for setting in _settings(arguments):
            horizon, level = setting.horizon, setting.epsilon
            if arguments.local:
                said = f"local epsilon {level:g}"
                made = other_notions.local_bounds(instance, level, horizon)
            else:
                level = number("rho", arguments.rho)
                said, made = f"rho {level:g}", other_notions.zcdp_bounds(instance, level, horizon)
            found.append(partial(describe_notion, name, instance, said, horizon, made))
    return found, lambda: None


def _axis(arguments: argparse.Namespace) -> tuple[str, tuple[float, float] | None]:
    from dpaudit.errors import UnknownName
    from dpaudit.parsing import number

    if arguments.against not in ("epsilon", "horizon"):
        raise UnknownName("axis", arguments.against, ("epsilon", "horizon"))
    if arguments.range is None:
        return arguments.against, None
    ends = [number("range", text) for text in arguments.range.split(",")]
    if len(ends) != 2 or not 0 < ends[0] < ends[1] < float("inf"):
        _refuse("range", arguments.range, "must be two positive numbers such as 0.05,10.")
    return arguments.against, (ends[0], ends[1])


def _simulation(arguments: argparse.Namespace) -> tuple[int, int, int]:
    from dpaudit.errors import require_integer
    from dpaudit.parsing import integer

    default = DEFAULT_RUNS if arguments.plot else "0"
    runs = integer("runs", default if arguments.runs is None else arguments.runs)
    require_integer("runs", runs, 1 if arguments.runs is not None else 0)
    return runs, integer("seed", arguments.seed), integer("jobs", arguments.jobs)


def _algorithms(arguments: argparse.Namespace, instances: dict[str, Instance]) -> list[str]:
    from dpaudit.regret_bounds.measured import require_target
    from dpaudit.regret_bounds.table import ALGORITHMS, Setting

    bounded = all(instance.bounded for instance in instances.values())
    names = arguments.targets
    if not names:
        chosen = ["adap_ucb", "adap_klucb"] if arguments.plot else list(_default())
        return chosen if bounded else []
    if arguments.plot and len(names) > MOST_DRAWN:
        rule = f"are too many for one picture: at most {MOST_DRAWN} can be told apart."
        _refuse("TARGET", ", ".join(names), rule)
    if not bounded:
        _refuse("TARGET", ", ".join(names), "needs rewards in [0, 1]; drop it or the law.")
    given = {} if any(name in ALGORITHMS for name in names) else _settings(arguments)[0].given
    for name in names:
        require_target(name, Setting(1.0, 1000, given=given))
    return list(names)


def _default() -> tuple[str, ...]:
    return ("adap_ucb", "adap_klucb", "dp_se", "dp_ucb")


def _instances(arguments: argparse.Namespace) -> dict[str, Instance]:
    from dpaudit.core import algorithms
    from dpaudit.core.environments import named
    from dpaudit.parsing import matrix, numbers
    from dpaudit.regret_bounds.bound import Instance, bernoulli
    from dpaudit.regret_bounds.finite import finite

    given = [arguments.env, arguments.means, arguments.support]
    if sum(item is not None for item in given) > 1:
        _refuse("means", arguments.means, "cannot be combined: give --env, --means or --support.")
    if (arguments.support is None) != (arguments.probabilities is None):
        _refuse("probabilities", arguments.probabilities, "and --support go together.")
    if arguments.support is not None:
        points = numbers("support", arguments.support)
        groups = matrix("probabilities", arguments.probabilities)
        laws = [finite(points, group) for group in groups]
        return {"finite support": Instance(tuple(laws))}
    if arguments.means is not None:
        return {f"{arguments.law} {arguments.means}": _family(arguments)}
    names = arguments.env or ["C2"]
    for name in names:
        if ":" in name or name in algorithms.names():
            _refuse("env", name, "is a TARGET, which comes before --env.")
    return {name: bernoulli(named(name).means) for name in names}


def _family(arguments: argparse.Namespace) -> Instance:
    from dpaudit.errors import UnknownName
    from dpaudit.parsing import number, numbers
    from dpaudit.regret_bounds import laws
    from dpaudit.regret_bounds.bound import Instance

    means = numbers("means", arguments.means)
    match arguments.law:
        case "bernoulli":
            return Instance(tuple(laws.BernoulliLaw(mean) for mean in means))
        case "gaussian":
            deviation = number("deviation", arguments.deviation)
            return Instance(tuple(laws.GaussianLaw(mean, deviation) for mean in means))
        case "exponential":
            return Instance(tuple(laws.Exponential(mean) for mean in means))
        case "poisson":
            return Instance(tuple(laws.Poisson(mean) for mean in means))
    known = ("bernoulli", "gaussian", "exponential", "poisson")
    raise UnknownName("reward law", arguments.law, known)


def _linear(arguments: argparse.Namespace) -> tuple[list[Table], Callable[[], None]]:
    """Return what makes the table of every setting, and no picture."""
    from dpaudit.regret_bounds import document
    from dpaudit.regret_bounds.measured import expected

    if arguments.plot:
        _refuse("plot", arguments.plot, "is for stochastic bandits; drop --features and --theta.")
    runs, seed, jobs = _simulation(arguments)
    settings, instance = _settings(arguments), _parse_linear(arguments)
    if runs and not arguments.yes:
        name, environment = document.LINEAR_ALGORITHM, instance.environment
        require_soon(len(settings) * expected(name, environment, settings[0], runs, jobs))
    return [
        partial(document.describe_linear, instance, setting, runs, seed, jobs)
        for setting in settings
    ], lambda: None


def _parse_linear(arguments: argparse.Namespace) -> LinearInstance:
    from dpaudit.parsing import matrix, numbers
    from dpaudit.regret_bounds.linear import LinearInstance

    if arguments.features is None or arguments.theta is None:
        _refuse("theta", arguments.theta, "and --features go together.")
    features = matrix("features", arguments.features)
    return LinearInstance(features, numbers("theta", arguments.theta))


def _refuse(name: str, value: object, rule: str) -> NoReturn:
    from dpaudit.errors import InvalidArgument

    raise InvalidArgument(name, value, rule)
