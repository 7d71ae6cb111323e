"""What `import dpaudit` offers a script or a notebook: the commands as functions.

TARGET is what the commands take: a name, `mutants/NAME`, `file.py:object`, `package.module:object`
(foreign code runs in a process of its own); `check` and `prove` also take an object: an
`Algorithm`, a class of them, a policy class or a function (stream, rng) -> actions. Results print
as the terminal shows them, in a notebook too; a report of `check` is a card there. What would take
more than an hour is refused with an estimate, unless `yes` is True.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from dpaudit.core.simulate import SimulationResult
from dpaudit.judging import Report
from dpaudit.options import METHODS
from dpaudit.verdict import Finding

if TYPE_CHECKING:
    from rich.console import Console


class Shown:
    """A result that a notebook shows as it prints."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


@dataclass(frozen=True)
class CheckReport(Report):
    """The verdict on a claim and the findings behind it, as text and as a card."""

    def __str__(self) -> str:
        from dpaudit.report import text

        return text(self)

    def _repr_html_(self) -> str:
        from dpaudit.page.card import card

        return card(self)


@dataclass(frozen=True)
class ProofReport(Shown, Finding):
    """What a proof of a claim concludes, or why there is none."""

    def __str__(self) -> str:
        from dpaudit.report import show_finding

        return _printed(lambda out: show_finding(out, self))


@dataclass(frozen=True)
class SimulationReport(Shown, SimulationResult):
    """The runs of a simulation, with their summaries."""

    def __str__(self) -> str:
        from dpaudit.simulation import show

        return _printed(lambda out: show(out, self))


def _printed(show: Callable[[Console], None]) -> str:
    """Return what is shown on a terminal, in lines of the usual width."""
    from io import StringIO

    from rich.console import Console

    from dpaudit.report import WIDTH

    text = StringIO()
    show(Console(file=text, width=WIDTH, highlight=False, no_color=True))
    return text.getvalue().rstrip("\n")


@dataclass(frozen=True)
class AuditReport(Shown):
    """What an audit concludes: `data` as `dpaudit audit --json` writes it."""

    data: dict[str, Any]
    lines: tuple[str, ...]
    refuted: bool

    @property
    def lower(self) -> float:
        """A lower bound on epsilon, wrong with at most the stated error."""
        return float(self.data["lower"])

    def __str__(self) -> str:
        from dpaudit.report import WIDTH
        from dpaudit.sample.text import fitted

        return fitted(self.lines, WIDTH)


@dataclass(frozen=True)
class RegretBounds(Shown):
    """Regret bounds of one instance: `data` as `dpaudit bounds --json` writes it."""

    data: dict[str, Any]

    def __str__(self) -> str:
        from dpaudit.regret_bounds.render import text

        return text([self.data])


def check(
    target: Any,
    epsilon: float | None = None,
    *,
    delta: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    local: bool = False,
    unit: int | None = None,
    arms: int | None = None,
    horizon: float | None = None,
    exact_horizon: float | None = None,
    method: str | Sequence[str] = METHODS,
    budget: float | None = None,
    seed: int = 0,
    runs: float | None = None,
    **parameters: Any,
) -> CheckReport:
    """Prove, hold or refute a privacy claim; return the report, whatever the verdict.

    The same as `dpaudit check TARGET`: each check goes as far as the budget lets it (15 seconds, 30
    for code). The claim is the algorithm's own unless one is given: `epsilon` (pure), `epsilon` and
    `delta`, `rho` (zCDP), `mu` (Gaussian DP), `local`, for `unit` rewards of a person. `horizon`
    may be written 1e6; other keywords are parameters of the algorithm.
    """
    from dpaudit.core.notions import Stated
    from dpaudit.examination import Asked, examine
    from dpaudit.options import Options

    stated = Stated(epsilon, rho, mu, delta, local, unit)
    options = Options(
        epsilon=epsilon,
        stated=stated if stated.texts.keys() - {"epsilon"} else None,
        given=parameters | ({} if arms is None else {"arms": arms}),
        horizon=whole("horizon", horizon),
        exact_horizon=whole("exact_horizon", exact_horizon),
        methods=tuple(method.split(",") if isinstance(method, str) else method),
        seed=seed,
        budget=budget,
        runs=whole("runs", runs),
    )
    found = examine(target, Asked(target if isinstance(target, str) else "", options)).report
    if found.interrupted:
        raise KeyboardInterrupt
    return CheckReport(**vars(found))


def prove(
    target: Any,
    epsilon: float | None = None,
    *,
    arms: int | None = None,
    horizon: float | None = None,
    budget: float | None = None,
    **parameters: Any,
) -> ProofReport:
    """Prove a claim for every transcript up to a horizon, or say why not; never refutes.

    What `check` does with `--method structure`: from the declaration alone, or from code by running
    it on symbols. The command `prove` is about the paper.
    """
    found = check(
        target,
        epsilon,
        arms=arms,
        horizon=horizon,
        method=("structure", "code"),
        budget=budget,
        **parameters,
    )
    return ProofReport(**vars(found.findings[0]))


def audit(
    target: str,
    epsilon: float = 1.0,
    *,
    arms: int | None = None,
    horizon: float | None = None,
    error: float = 1e-3,
    runs: float | None = None,
    seed: int = 0,
    jobs: int = 1,
    yes: bool = False,
    **parameters: Any,
) -> AuditReport:
    """Audit real runs: refute a claim at a stated error, or stay silent; never proves.

    The same as `dpaudit audit TARGET`; other keywords are parameters of a declared algorithm.
    """
    import argparse

    from dpaudit.commands import audit as command
    from dpaudit.process import START_SECONDS, answer

    _require_text(target)
    words = [target, "--epsilon", repr(epsilon), "--error", repr(error), "--seed", str(seed)]
    words += ["--jobs", str(jobs), *["--yes"] * yes]
    sizes = {"arms": arms, "horizon": whole("horizon", horizon), "runs": whole("runs", runs)}
    for name, value in sizes.items():
        words += [] if value is None else [f"--{name}", str(value)]
    for name, value in parameters.items():
        words += ["--param", f"{name}={value}"]
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    asked = command.read(parser.parse_args(words))
    found = answer(target, command.conducted, asked, START_SECONDS)
    return AuditReport(found["report"], tuple(found["lines"]), found["refuted"])


def simulate(
    target: str,
    env: str | None = None,
    *,
    means: Sequence[float] | None = None,
    rewards: str = "bernoulli",
    horizon: float = 10**6,
    runs: float = 100,
    seed: int = 0,
    jobs: int = 1,
    yes: bool = False,
    **parameters: Any,
) -> SimulationReport:
    """Run an algorithm many times: regret, pull counts, releases; the same seed, the same result.

    `env` is C1, C2, C3, C4 or regimes (default C2), or give the `means` of the arms.
    """
    from dpaudit.core.environments import named, of_means
    from dpaudit.errors import InvalidArgument
    from dpaudit.patience import require_soon
    from dpaudit.simulation import Simulation

    _require_text(target)
    if env is not None and means is not None:
        raise InvalidArgument("means", tuple(means), "cannot be combined with env.")
    found = named(env or "C2", rewards) if means is None else of_means(tuple(means), rewards)
    work = Simulation(target, parameters, found.means, rewards)
    size = whole("horizon", horizon), whole("runs", runs)
    require_soon(0.0 if yes else work.seconds(*size, jobs))
    result = work.run(*size, seed, jobs)
    return SimulationReport(**{it.name: getattr(result, it.name) for it in fields(result)})


def bounds(
    env: str | None = None,
    *,
    means: Sequence[float] | None = None,
    epsilon: float = 1.0,
    horizon: float = 10**7,
    alpha: float = 3.1,
    algorithms: Sequence[str] = ("adap_ucb", "adap_klucb", "dp_se", "dp_ucb"),
    runs: float = 0,
    seed: int = 0,
    jobs: int = 1,
    yes: bool = False,
) -> RegretBounds:
    """Return what privacy must cost in regret, and what algorithms guarantee, on Bernoulli arms.

    The same as `dpaudit bounds`; with `runs`, simulated regret beside the bounds.
    """
    from dpaudit.core.environments import named, of_means
    from dpaudit.errors import InvalidArgument
    from dpaudit.patience import require_soon
    from dpaudit.regret_bounds.bound import bernoulli
    from dpaudit.regret_bounds.document import describe
    from dpaudit.regret_bounds.measured import expected, require_target
    from dpaudit.regret_bounds.table import Setting

    if env is not None and means is not None:
        raise InvalidArgument("means", tuple(means), "cannot be combined with env.")
    shown = env or "C2" if means is None else ", ".join(f"{mean:g}" for mean in means)
    instance = bernoulli(named(env or "C2").means if means is None else tuple(means))
    setting, count = Setting(epsilon, whole("horizon", horizon), alpha), whole("runs", runs)
    for name in algorithms:
        _require_text(name)
        require_target(name, setting)
        if count and not yes:
            require_soon(expected(name, of_means(instance.means), setting, count, jobs))
    return RegretBounds(describe(shown, instance, setting, algorithms, count, seed, jobs))


def _require_text(target: Any) -> None:
    """Raise unless a target is a text: what runs in other processes is found there by its name."""
    from dpaudit.errors import InvalidArgument

    if not isinstance(target, str):
        given = target if isinstance(target, type) else type(target)
        rule = "must be a name or file.py:object; `check` and `prove` take objects, too."
        raise InvalidArgument("target", given.__name__, rule)


def whole(name: str, value: float | None) -> Any:
    """Return a whole number that may be written as 1e6; None stays."""
    from dpaudit.parsing import integer

    return None if value is None else integer(name, repr(value))
