"""What is judged and how: a subject (declared algorithm or black box) and the sizes and seed.

A judgement is fixed by sizes and seeds, not by the speed of the machine: structure at a horizon,
exact at one small horizon, sample with a fixed number of runs. `budget` is a limit against endless
work and not a target; a check that it cuts short concludes less, never something else.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dpaudit import code
from dpaudit import judging as engine
from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import (
    Contradiction,
    DpauditError,
    InvalidArgument,
    UnknownName,
    require_integer,
    require_positive,
)
from dpaudit.judging import ALL_METHODS, METHODS, OFFERED, Report
from dpaudit.target import Target, parameters
from dpaudit.verdict import Status

BUDGET = 60.0
BEYOND_FIRST_PULLS = 2  # exact judges arms + 2 rounds unless told: seconds, for every algorithm
BOX_RUNS = 2_000
SEARCH_SECONDS = 15.0


@dataclass(frozen=True)
class Options:
    """Everything that fixes a judgement apart from the code that is judged."""

    epsilon: float | None = None
    given: Mapping[str, int | float] = field(default_factory=dict)
    horizon: int | None = None
    exact_horizon: int | None = None
    methods: tuple[str, ...] = METHODS
    seed: int = 0
    budget: float = BUDGET
    runs: int | None = None

    def __post_init__(self) -> None:
        for name in self.methods:
            if name not in ALL_METHODS:
                raise UnknownName("method", name, ALL_METHODS)
        if self.epsilon is not None:
            require_positive("epsilon", self.epsilon)
            object.__setattr__(self, "epsilon", float(self.epsilon))
        for name, least in (("horizon", 1), ("exact_horizon", 1), ("runs", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None:
                require_integer(name, value, least)
        require_positive("budget", self.budget)


@dataclass(frozen=True)
class Judged:
    """A report, and the data that `audit --replay` needs where a black box was refuted."""

    report: Report
    replay: dict[str, Any] | None = None
    line: int | None = None
    """The line of the file that a failed proof of code names."""


class Instance(Target):
    """An algorithm with its parameters, judged as it is: the claimed epsilon never rebuilds it."""

    @property
    def accepts(self) -> dict[str, bool]:
        """The parameters but epsilon, which is the claim."""
        return {name: True for name in super().accepts if name != "epsilon"}


@dataclass(frozen=True)
class Declared:
    """An algorithm in dpaudit's declaration."""

    target: Target

    @property
    def text(self) -> str:
        """What names it on a command line."""
        return self.target.text

    @property
    def source(self) -> Any:
        """The class, instance or function behind the name."""
        return self.target.source

    def claim(self, options: Options) -> str:
        """Return the name of a claim about it; an instance's parameters are part of it."""
        if not isinstance(self.source, Algorithm):
            return claim_id(self.text, options.given, options.epsilon)
        shown = {**parameters(self.source), **options.given}
        claim = claim_id(self.text, shown, None)
        own = options.epsilon is None or shown.get("epsilon") == options.epsilon
        return claim if own else f"{claim} judged at epsilon={options.epsilon!r}"

    def sizes(self, options: Options) -> Options:
        """Return the options with every default size written out."""
        own = getattr(self.source, "horizon", None) if isinstance(self.target, Instance) else None
        horizon = own if isinstance(own, int) else engine.HORIZON
        horizon = horizon if options.horizon is None else options.horizon
        arms = self.build(horizon, options).arms
        small = options.exact_horizon
        small = min(arms + BEYOND_FIRST_PULLS, horizon) if small is None else small
        return replace(options, horizon=horizon, exact_horizon=small, runs=None)

    def build(self, horizon: int, options: Options) -> Algorithm:
        """Return the algorithm that is judged."""
        given: dict[str, Any] = dict(options.given)
        if options.epsilon is not None and "epsilon" in self.target.accepts:
            given["epsilon"] = options.epsilon
        return self.target.build(horizon, given, OFFERED)

    def judge(self, options: Options) -> Judged:
        """Run the checks at sizes that are all written out."""
        assert options.horizon is not None
        report = engine.check(
            self.target,
            options.given,
            epsilon=options.epsilon,
            horizon=options.horizon,
            exact_horizon=options.exact_horizon,
            methods=options.methods,
            budget=options.budget,
            seed=options.seed,
        )
        if report.failure and report.verdict is Status.SILENT:
            raise InvalidArgument("TARGET", self.text, f"cannot be judged: {report.failure}")
        if report.interrupted:
            raise KeyboardInterrupt
        return Judged(report)


@dataclass(frozen=True)
class Foreign:
    """Code that is not declared: proved as it stands where symbols can follow it, else audited."""

    text: str
    source: Any

    def claim(self, options: Options) -> str:
        """Return the name of a claim about it."""
        return claim_id(self.text, options.given, options.epsilon)

    def sizes(self, options: Options) -> Options:
        """Return the options with every default size written out."""
        unknown = [name for name in options.given if name != "arms"]
        if unknown:
            rule = f"is for declared algorithms; {self.text} is code."
            raise InvalidArgument(unknown[0], options.given[unknown[0]], rule)
        usual = set(options.methods) == set(METHODS)
        methods = code.METHODS if usual else options.methods
        known = tuple(name for name in code.METHODS if name in methods)
        if not known:
            rule = f"cannot judge {self.text}, which is code; {' and '.join(code.METHODS)} can."
            raise InvalidArgument("method", ",".join(options.methods), rule)
        return replace(
            options,
            epsilon=engine.EPSILON if options.epsilon is None else options.epsilon,
            given={"arms": code.ARMS, **options.given},
            horizon=code.HORIZON if options.horizon is None else options.horizon,
            exact_horizon=None,
            methods=known,
            runs=BOX_RUNS if options.runs is None else options.runs,
        )

    def asked(self, options: Options) -> code.Asked:
        """Return what to judge."""
        return code.Asked(
            self.text,
            options.epsilon,
            int(options.given["arms"]),
            code.HORIZON if options.horizon is None else options.horizon,
            options.methods,
            options.budget,
            options.seed,
            options.runs,
        )

    def judge(self, options: Options) -> Judged:
        """Prove, and audit seeded runs; a budget that does not suffice concludes less."""
        found = code.judge(self.asked(options), self.source)
        if found.report.failure and found.report.verdict is Status.SILENT:
            raise InvalidArgument("TARGET", self.text, f"cannot be judged: {found.report.failure}")
        if found.report.interrupted:
            raise KeyboardInterrupt
        return Judged(found.report, found.report.replay, found.line)


Subject = Declared | Foreign


def searched(subject: Subject, options: Options, judged: Judged) -> Judged:
    """Look for a counterexample at larger horizons; without one, return the judgement as it is.

    Used where a claim fails anyway or is locked for the first time: how far it gets depends on the
    machine, so it may turn a silence into a refutation and must not decide what is green.
    """
    if not isinstance(subject, Declared) or "exact" not in options.methods:
        return judged
    if judged.report.exit_code in (0, 1) or judged.report.verdict is Status.REFUTED:
        return judged
    wide = replace(options, exact_horizon=None, methods=("exact",), budget=SEARCH_SECONDS)
    try:
        again = subject.judge(wide).report
    except Contradiction:
        raise
    except DpauditError:
        return judged
    if again.verdict is not Status.REFUTED:
        return judged
    findings = (*judged.report.findings, *again.findings)
    return Judged(replace(judged.report, verdict=Status.REFUTED, findings=findings))


def claim_id(target: str, given: Mapping[str, Any], epsilon: float | None) -> str:
    """Return the name of a claim: the target and the parameters that were asked for."""
    asked = dict(given) if epsilon is None else {**given, "epsilon": epsilon}
    return " ".join([target, *(f"{name}={asked[name]!r}" for name in sorted(asked))])


def nearest_flaw(algorithm: Algorithm, epsilon: float) -> str | None:
    """Return the flaw of the nearest mutant, or None where there is none or no mutants ship."""
    try:
        mutants = importlib.import_module("dpaudit.core.mutants")
        flaw: str | None = mutants.nearest_flaw(algorithm, epsilon)
    except Exception:
        return None
    return flaw
