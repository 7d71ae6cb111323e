"""What is judged and how: a subject (declared algorithm or black box) and the sizes and seed.

A judgement is fixed by sizes and seeds, not by the speed of the machine: structure at a horizon,
exact at one small horizon, sample with a fixed number of runs. `budget` is a limit against endless
work and not a target; a check that it cuts short concludes less, never something else.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dpaudit import check as engine
from dpaudit.check import METHODS, OFFERED, Claim, Report
from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import (
    DpauditError,
    InvalidArgument,
    UnknownName,
    require_integer,
    require_positive,
)
from dpaudit.target import Target, parameters, resolve
from dpaudit.verdict import Finding

BUDGET = 60.0
BEYOND_FIRST_PULLS = 2  # exact judges arms + 2 rounds unless told: seconds, for every algorithm
BOX_ARMS, BOX_HORIZON, BOX_RUNS = 2, 100, 2_000
BOX_ERROR = 1e-6
RUN_SECONDS = 60.0
NEIGHBOURS = "one reward of the stream"


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
            if name not in METHODS:
                raise UnknownName("method", name, METHODS)
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
        judged = shown.setdefault("epsilon", options.epsilon) != options.epsilon is not None
        claim = claim_id(self.text, {k: v for k, v in shown.items() if v is not None}, None)
        return f"{claim} judged at epsilon={options.epsilon!r}" if judged else claim

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
        return Judged(
            engine.check(
                self.target,
                options.given,
                epsilon=options.epsilon,
                horizon=options.horizon,
                exact_horizon=options.exact_horizon,
                methods=options.methods,
                budget=options.budget,
                seed=options.seed,
            )
        )


@dataclass(frozen=True)
class Foreign:
    """Code that is not declared: only real runs can judge it, and they never prove."""

    text: str
    source: Any

    def claim(self, options: Options) -> str:
        """Return the name of a claim about it."""
        return claim_id(self.text, options.given, options.epsilon)

    def sizes(self, options: Options) -> Options:
        """Return the options with every default size written out."""
        unknown = [name for name in options.given if name != "arms"]
        if unknown:
            rule = f"is for declared algorithms; {self.text} is a black box."
            raise InvalidArgument(unknown[0], options.given[unknown[0]], rule)
        if "sample" not in options.methods:
            rule = f"cannot judge {self.text}, a black box; only sample can."
            raise InvalidArgument("method", ",".join(options.methods), rule)
        return replace(
            options,
            epsilon=engine.EPSILON if options.epsilon is None else options.epsilon,
            given={"arms": BOX_ARMS, **options.given},
            horizon=BOX_HORIZON if options.horizon is None else options.horizon,
            exact_horizon=None,
            methods=("sample",),
            runs=BOX_RUNS if options.runs is None else options.runs,
        )

    def judge(self, options: Options) -> Judged:
        """Audit seeded runs; the budget does not cut them short."""
        from dpaudit.sample.audit import audit
        from dpaudit.sample.boxes import PolicyBox, accepted, read_source
        from dpaudit.sample.plan import AuditPlan
        from dpaudit.sample.streams import candidates

        epsilon, horizon, runs = options.epsilon, options.horizon, options.runs
        assert epsilon is not None and horizon is not None and runs is not None
        arms = int(options.given["arms"])
        names = accepted(self.source)
        values = {"arms": arms, "horizon": horizon, "epsilon": epsilon}

        def build(rng: Any) -> Any:
            if names is None:
                return self.source
            return self.source(**{name: (values | {"rng": rng})[name] for name in names})

        start = time.monotonic()
        file = file_of(self)
        text = read_source(str(file)) if file else ""
        box = PolicyBox(self.text, build, arms, horizon, RUN_SECONDS, text)
        pairs = tuple(candidates(arms, horizon, [options.seed, 2]))[: max(1, runs // 16)]
        found = audit(AuditPlan(box, epsilon, BOX_ERROR, runs, options.seed, pairs))
        reason = f"{found.words[0].upper()}{found.words[1:]} {found.runs} runs of {horizon} steps."
        guilty = [judged for judged in found.hypotheses if judged.refuted]
        if guilty:
            worst = guilty[0]
            reason += (
                f" Pair: {worst.pair}. Event: {worst.event}, {worst.hits} and {worst.hits_other} of"
                f" {worst.rounds} runs ({worst.direction})."
            )
        finding = Finding(
            "sample",
            found.status,
            reason,
            epsilon_lower=found.lower,
            arms=arms,
            horizon=horizon,
            streams=f"{len(pairs)} pairs tried",
            error=found.error,
            seconds=time.monotonic() - start,
        )
        label = self.text.rpartition(":")[2]
        claim = Claim(
            self.text, label, {"arms": arms}, epsilon, arms, horizon, False, NEIGHBOURS, own=False
        )
        report = Report(found.status, claim, (finding,))
        return Judged(report, _plain(found) if guilty else None)


def _plain(found: Any) -> dict[str, Any]:
    from dpaudit.output import plain

    data: dict[str, Any] = plain(found)
    return data


Subject = Declared | Foreign


def claim_id(target: str, given: Mapping[str, Any], epsilon: float | None) -> str:
    """Return the name of a claim: the target and the parameters that were asked for."""
    asked = dict(given) if epsilon is None else {**given, "epsilon": epsilon}
    return " ".join([target, *(f"{name}={asked[name]!r}" for name in sorted(asked))])


def subject_of(thing: Any, root: Path | None = None) -> Subject:
    """Return what a name, `file.py:object`, `package.module:object` or an object stands for.

    A file is looked for under `root` (default here) and named from here, so that a replay finds it.
    """
    if isinstance(thing, Declared | Foreign):
        return thing
    if isinstance(thing, str):
        return _named(thing, root or Path.cwd())
    if isinstance(thing, Algorithm) or (isinstance(thing, type) and issubclass(thing, Algorithm)):
        return _declared(Target(name_of(thing), thing))
    if callable(thing):
        return _called(name_of(thing), thing)
    raise InvalidArgument(
        "algorithm",
        type(thing).__name__,
        "must be an Algorithm, a name, file.py:object or a callable black box.",
    )


def _named(text: str, root: Path) -> Subject:
    place, colon, name = text.rpartition(":")
    if not colon or not place or not name:
        return Declared(resolve(text))
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))  # a file may import its neighbours
    if place.endswith(".py"):
        text = f"{os.path.relpath(root / place)}:{name}"
    try:
        target = resolve(text)
    except InvalidArgument as error:
        if "not an Algorithm" not in str(error):
            raise
        return _foreign(text, _object(text))
    return _called(text, target.source) if inspect.isfunction(target.source) else _declared(target)


def _declared(target: Target) -> Declared:
    instance = isinstance(target.source, Algorithm)
    return Declared(Instance(target.text, target.source) if instance else target)


def _object(text: str) -> Any:
    import importlib

    from dpaudit.sample.boxes import load_object

    place, _, name = text.rpartition(":")
    if place.endswith(".py"):
        return load_object(place, name)
    return getattr(importlib.import_module(place), name)


def _called(text: str, source: Callable[..., Any]) -> Subject:
    """Tell a function that returns an Algorithm from a black box, by calling it."""
    target = Target(text, source)
    try:
        target.build(engine.HORIZON, {}, OFFERED)
    except DpauditError:
        return _foreign(text, source)
    return Declared(target)


def _foreign(text: str, source: Any) -> Foreign:
    """Name a black box by its file, which is how `audit --replay` finds it."""
    place, colon, name = text.rpartition(":")
    file = source_file(source)
    if colon and not place.endswith(".py") and file is not None:
        return Foreign(f"{os.path.relpath(file)}:{name}", source)
    return Foreign(text, source)


def name_of(thing: Any) -> str:
    """Return how a command line can name an object; its bare name where none can."""
    from dpaudit.core import algorithms

    kind = type(thing) if isinstance(thing, Algorithm) else thing
    module, name = kind.__module__, getattr(kind, "__qualname__", type(thing).__qualname__)
    package, _, last = module.rpartition(".")
    if package == algorithms.__name__:
        return str(last)
    file = source_file(kind)
    if "<locals>" in name or "." in name or file is None:
        return str(name)
    if package:
        return f"{module}:{name}"
    return f"{os.path.relpath(file)}:{name}"


def file_of(subject: Subject) -> Path | None:
    """Return the file that defines a subject: the one its name gives, else Python's."""
    place = subject.text.rpartition(":")[0]
    if place.endswith(".py"):
        return Path(place).resolve()
    return source_file(subject.source)


def source_file(thing: Any) -> Path | None:
    """Return the file that defines an object, if there is one."""
    kind = type(thing) if isinstance(thing, Algorithm) else thing
    try:
        file = inspect.getsourcefile(inspect.unwrap(kind) if inspect.isfunction(kind) else kind)
    except TypeError:
        module = sys.modules.get(getattr(type(thing), "__module__", ""))
        file = getattr(module, "__file__", None)
    return Path(file).resolve() if file and Path(file).is_file() else None
