"""What is judged and how: a subject (declared algorithm or black box) and the sizes and seed.

Every command, the gate, a test and `dpaudit.check` make their findings by `Subject.judge`. A lock
and a test want what does not hang on the speed of the machine, and get `sizes`: structure at a
horizon, exact at one small horizon, sample with a fixed number of runs, and a `budget` that is a
limit against endless work; a check that it cuts short concludes less, never something else. `reach`
is for a person who waits: each check goes as far as the budget lets it.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit import code
from dpaudit import judging as engine
from dpaudit.code import JudgedTarget
from dpaudit.core.algorithm import Algorithm
from dpaudit.core.notions import Kind, Stated
from dpaudit.errors import Contradiction, DpauditError, InvalidArgument
from dpaudit.judging import NOBODY, Listener, PrivacyClaim, Report
from dpaudit.options import METHODS, Options
from dpaudit.target import OFFERED, Target, parameters
from dpaudit.verdict import Finding, Status

if TYPE_CHECKING:
    from dpaudit.structure import Bound

BEYOND_FIRST_PULLS = 2  # exact judges arms + 2 rounds unless told: seconds, for every algorithm
BOX_RUNS = 2_000
SEARCH_SECONDS = 15.0


class InstanceTarget(Target):
    """An algorithm with its parameters, judged as it is: the claimed epsilon never rebuilds it."""

    @property
    def accepts(self) -> dict[str, bool]:
        """The parameters but those of a notion, which are the claim."""
        claims = {name for kind in Kind for name in kind.parameters}
        return {name: True for name in super().accepts if name not in claims}


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
            return claim_id(self.text, options.given, options.epsilon, options.stated)
        shown = {**parameters(self.source), **options.given}
        claim = claim_id(self.text, shown, None)
        if options.claimed.texts.keys() - {"epsilon"}:
            return f"{claim} judged at {options.claimed.words}"
        own = options.epsilon is None or shown.get("epsilon") == options.epsilon
        return claim if own else f"{claim} judged at epsilon={options.epsilon!r}"

    def sizes(self, options: Options) -> Options:
        """Return the options with every default size written out."""
        own = (
            getattr(self.source, "horizon", None)
            if isinstance(self.target, InstanceTarget)
            else None
        )
        horizon = own if isinstance(own, int) else engine.HORIZON
        horizon = horizon if options.horizon is None else options.horizon
        arms = self.build(horizon, options).arms
        small = options.exact_horizon
        small = min(arms + BEYOND_FIRST_PULLS, horizon) if small is None else small
        return replace(
            options, horizon=horizon, exact_horizon=small, runs=None, budget=options.spend()
        )

    def reach(self, options: Options) -> Options:
        """Return the options with the claimed horizon and the time that a person waits."""
        sized = self.sizes(options)
        time = options.spend(engine.BUDGET)
        return replace(sized, exact_horizon=options.exact_horizon, budget=time)

    def build(self, horizon: int, options: Options) -> Algorithm:
        """Return the algorithm that is judged."""
        given = {**options.claimed.numbers(self.target.accepts), **options.given}
        return self.target.build(horizon, given, OFFERED)

    def judge(
        self, options: Options, to: Listener = NOBODY, certified: bool = False
    ) -> JudgedTarget:
        """Run the checks; what is not written out in the options is as far as the budget goes."""
        bounds: list[Bound] = []
        report = engine.check(self.target, options, to, bounds.append)
        found = None
        if certified and bounds:
            found = certificate(self.target, report.claim, bounds[-1])
        return JudgedTarget(report, certificate=found)


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
            if unknown[0] == "grid":
                rule += " --noise lattice sets it; code draws exact noise by dpaudit.noise."
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
            budget=options.spend(),
        )

    def reach(self, options: Options) -> Options:
        """Return the options with the claimed horizon and the time that a person waits."""
        return replace(self.sizes(options), runs=options.runs, budget=options.spend(code.BUDGET))

    def judge(
        self, options: Options, to: Listener = NOBODY, certified: bool = False
    ) -> JudgedTarget:
        """Prove, and audit seeded runs; a budget that does not suffice concludes less."""
        if options.stated is not None:
            return self._unjudged(options, to)
        return code.judge(self.text, self.source, options, to, certified)

    def _unjudged(self, options: Options, to: Listener) -> JudgedTarget:
        """Stay silent about a notion that neither symbols nor runs of code can judge."""
        from dpaudit.sample.boxes import accepted

        notion, arms = options.claimed.judged(None), int(options.given["arms"])
        horizon = code.HORIZON if options.horizon is None else options.horizon
        names = accepted(self.source)
        anytime = names is not None and "horizon" not in names.values()
        about = self.text, self.text, dict(options.given), math.inf, arms, horizon, anytime
        claim = PrivacyClaim(*about, notion.neighbours, own=False, notion=notion)
        asked = f"{notion} ({notion.kind.described})"
        reason = (
            f"Code is judged by pure global epsilon for one reward, not by {asked}; declare it."
        )
        found = [Finding(name, Status.SILENT, reason, arms=arms) for name in options.methods]
        to.begun(claim)
        for finding in found:
            to.heard(finding)
        return JudgedTarget(Report(Status.SILENT, claim, tuple(found), code=True))


Subject = Declared | Foreign


def searched(subject: Subject, options: Options, report: Report) -> Report:
    """Look for a counterexample at larger horizons; without one, return the report as it is.

    Used where a claim fails anyway or is locked for the first time: how far it gets depends on the
    machine, so it may turn a silence into a refutation and must not decide what is green.
    """
    if not isinstance(subject, Declared) or "exact" not in options.methods:
        return report
    if report.exit_code in (0, 1) or report.verdict is Status.REFUTED:
        return report
    wide = replace(options, exact_horizon=None, methods=("exact",), budget=SEARCH_SECONDS)
    try:
        again = subject.judge(wide).report
    except Contradiction:
        raise
    except DpauditError:
        return report
    if again.interrupted:
        raise KeyboardInterrupt
    if again.verdict is not Status.REFUTED:
        return report
    findings = (*report.findings, *again.findings)
    return replace(report, verdict=Status.REFUTED, findings=findings)


def nearest_flaw(algorithm: Algorithm, epsilon: float) -> str | None:
    """Return the flaw of the nearest mutant, or None where there is none or no mutants ship."""
    try:
        mutants = importlib.import_module("dpaudit.core.mutants")
        flaw: str | None = mutants.nearest_flaw(algorithm, epsilon)
    except Exception:
        return None
    return flaw


def claim_id(
    target: str, given: Mapping[str, Any], epsilon: float | None, stated: Stated | None = None
) -> str:
    """Return the name of a claim: the target and the parameters and claim that were asked for."""
    if stated is not None and stated.texts.keys() - {"epsilon"}:
        named = " ".join([target, *(f"{name}={given[name]!r}" for name in sorted(given))])
        return f"{named} judged at {stated.words}"
    asked = dict(given) if epsilon is None else {**given, "epsilon": epsilon}
    return " ".join([target, *(f"{name}={asked[name]!r}" for name in sorted(asked))])


def certificate(target: Target, claim: PrivacyClaim, bound: Bound) -> dict[str, Any] | None:
    """Return what structure has proved of a declaration, for `dpaudit.verify`."""
    import hashlib

    from dpaudit.core.arithmetic import exact
    from dpaudit.sources import digests
    from dpaudit.verify import SCHEMA

    evidence = bound.evidence()
    if evidence is None:
        return None
    texts = sorted(digests(target.text, target.source, Path.cwd()).items())
    return {
        "dpaudit": "certificate",
        "schema": SCHEMA,
        "target": target.text,
        "parameters": {name: repr(value) for name, value in claim.parameters.items()},
        "arms": claim.arms,
        "epsilon": str(exact(claim.epsilon)),
        "sha256": hashlib.sha256(repr(texts).encode()).hexdigest(),
        "charge": str(bound.charge),
        **evidence,
    }
