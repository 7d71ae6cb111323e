"""Privacy claims as assertions: `assert_global_dp(algorithm, epsilon)` in any test.

Importing this module costs nothing; the checks are imported by the first call. Sizes and seed are
fixed by the arguments, so a test that is green stays green until the code changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from dpaudit.judging import Report

Requirement = Literal["proved", "holds", "not refuted"]
REQUIREMENTS = {
    "proved": ("PROVED",),
    "holds": ("PROVED", "HOLDS"),
    "not refuted": ("PROVED", "HOLDS", "SILENT"),
}


class PrivacyViolation(AssertionError):
    """A claim did not get the verdict that the test requires."""


@dataclass(frozen=True)
class Audited:
    """One audited claim: what the summary and JUnit XML say of it."""

    line: str
    properties: dict[str, str]


@dataclass(frozen=True)
class Session:
    """Where audited claims and counterexamples go, and the seed of audits that name none."""

    hear: Callable[[Audited], None] = lambda audited: None
    folder: Path = Path(".dpaudit")
    seed: int = 0


session: ContextVar[Session] = ContextVar("session")
ALONE = Session()


def audit_global_dp(algorithm: Any, epsilon: float | None = None, **options: Any) -> Report:
    """Judge a claim and return the report, whatever the verdict.

    `algorithm` is an Algorithm (instance or class), a name, "file.py:object",
    "package.module:object" (a text names code that is judged in a fresh process of its own, an
    object is judged in this one, with the modules that are loaded here), or code: a function
    (stream, rng) -> actions, or a class or function that makes a policy from those of arms,
    horizon, epsilon, rng that it accepts.
    `epsilon` is the algorithm's own claim unless given. An instance is judged as it is, with its
    own parameters, against `epsilon`; a class is built with it. `rho`, `mu`, `delta` (with
    `epsilon`), `local` and `unit` state other notions (docs/notions.md).

    Options: `arms` (2), `horizon` of structure and sample (1e7; an instance's own; 1,000 for
    code), `exact_horizon` (arms + 2), `method` (all of "structure", "exact", "sample"; "code" and
    "sample" for code in a file), `seed` (0), `budget` (at most 60 seconds), `runs` of code (2000),
    and any parameter of the algorithm.
    """
    return _audit(algorithm, epsilon, "not refuted", **options).report


def assert_global_dp(
    algorithm: Any,
    epsilon: float | None = None,
    *,
    require: Requirement | None = None,
    **options: Any,
) -> Report:
    """Raise `PrivacyViolation` unless a claim gets the verdict that is required; return the report.

    Arguments and options are those of `audit_global_dp`. `require` is "proved", "holds" (at the
    stated sizes, or better) or "not refuted"; by default "proved", and "not refuted" for code,
    of which not all can be proved. The message shows the counterexample and a line that replays it;
    where the sizes show none, larger ones are searched for 15 seconds before the test fails.
    """
    __tracebackhide__ = True
    if require is not None and require not in REQUIREMENTS:
        from dpaudit.errors import UnknownName

        raise UnknownName("requirement", str(require), REQUIREMENTS)
    found = _audit(algorithm, epsilon, require, **options)
    short = found.required == "proved" and found.report.partial
    if short or str(found.report.verdict) not in REQUIREMENTS[found.required]:
        raise PrivacyViolation(f"required: {found.required}; found: {found.text}")
    return found.report


@dataclass(frozen=True)
class _Found:
    """A report, the message for a failure, and what is required of this target."""

    report: Report
    text: str
    required: Requirement


def _audit(
    algorithm: Any,
    epsilon: float | None,
    require: Requirement | None,
    *,
    arms: int | None = None,
    horizon: int | None = None,
    exact_horizon: int | None = None,
    method: str | Sequence[str] = ("structure", "exact", "sample"),
    seed: int | None = None,
    budget: float | None = None,
    runs: int | None = None,
    rho: float | None = None,
    mu: float | None = None,
    delta: float | None = None,
    local: bool = False,
    unit: int | None = None,
    **parameters: float,
) -> _Found:
    __tracebackhide__ = True
    from dpaudit.core.notions import Stated
    from dpaudit.errors import InvalidArgument
    from dpaudit.examination import Asked, examine
    from dpaudit.message import findings_text, summary
    from dpaudit.options import Options

    methods = tuple(method.split(",") if isinstance(method, str) else method)
    if not methods:
        raise InvalidArgument("method", "()", "must name a check.")
    here = session.get(ALONE)
    stated = Stated(epsilon, rho, mu, delta, local, unit)
    options = Options(
        epsilon=epsilon,
        stated=stated if stated.texts.keys() - {"epsilon"} else None,
        given=parameters | ({} if arms is None else {"arms": arms}),
        horizon=horizon,
        exact_horizon=exact_horizon,
        methods=methods,
        seed=here.seed if seed is None else seed,
        budget=budget,
        runs=runs,
    )
    enough = REQUIREMENTS[require or "proved"]
    target = algorithm if isinstance(algorithm, str) else ""
    found = examine(algorithm, Asked(target, options, fixed=True, enough=enough))
    required = require or ("proved" if found.declared else "not refuted")
    details, _ = found.explained(here.folder)
    line = summary(found.report, found.claim)
    here.hear(Audited(line, _properties(found.report, found.claim, found.options.seed)))
    text = "\n".join(part for part in (line, findings_text(found.report), details) if part)
    return _Found(found.report, text, required)


def _properties(report: Report, claim: str, seed: int) -> dict[str, str]:
    return {
        "dpaudit.claim": claim,
        "dpaudit.verdict": str(report.verdict),
        "dpaudit.epsilon": repr(report.claim.epsilon),
        "dpaudit.epsilon_lower": repr(report.lower),
        "dpaudit.epsilon_upper": repr(report.upper),
        "dpaudit.horizon": str(report.claim.horizon),
        "dpaudit.seed": str(seed),
    }
