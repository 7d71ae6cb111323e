"""Replay: a saved counterexample, recomputed from its streams and actions alone.

A witness comes from anybody, so it is data. It may name an algorithm or a mutant of dpaudit; code
of one's own runs only if the user names it too. Its parameters are numbers, and names where a field
holds a name, for the fields that the class has; nothing else is called with them. The loss is
judged against the algorithm's own claim unless the user states another: what the file claims
decides nothing.
"""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.notions import Stated
from dpaudit.documents import read as read_json
from dpaudit.documents import shown, versioned
from dpaudit.errors import DpauditError, InvalidArgument, require_integer, require_positive
from dpaudit.judging import EPSILON, PrivacyClaim, claim_of
from dpaudit.output import plain
from dpaudit.process import Call, call
from dpaudit.target import Target, foreign, parameters, resolve
from dpaudit.verdict import Enclosure, Witness

MOST_ARMS = 1_000  # or as many as rounds: a file cannot make the machine run out of memory


@dataclass(frozen=True)
class Replayed:
    """A witness with fresh numbers and the claim it is judged against.

    `confirmed` tells whether it violates that claim, `agrees` whether the file's loss is the same;
    `stated` is the epsilon that the file gives.
    """

    witness: Witness
    confirmed: bool
    agrees: bool
    stated: float

    @property
    def loss(self) -> Enclosure:
        """The loss as recomputed."""
        return self.witness.loss


def read(path: Path) -> Witness:
    """Return the witness in a file; anything else costs one line."""
    from dpaudit.exact.witness import from_json

    data = read_json(path)
    if isinstance(data, dict) and "findings" in data:
        rule = "is a report; save the counterexample alone with `check --witness FILE`."
        raise InvalidArgument("file", path, rule)
    if isinstance(data, dict) and data.get("dpaudit") == "audit":
        rule = "holds runs, not likelihoods: `dpaudit audit TARGET --replay FILE` judges new ones."
        raise InvalidArgument("file", path, rule)
    try:
        return from_json(versioned(data, "witness", unmarked=1))
    except DpauditError as error:
        said = str(error).partition("is not a witness: ")[2] or str(error)
        rule = f"holds no counterexample of `check --witness`: {said}"
        raise InvalidArgument("file", path, rule) from None
    except ValueError as error:
        raise InvalidArgument("file", path, f"holds no counterexample: it {error}") from None


def line(saved: str | Path, claim: PrivacyClaim) -> str:
    """Return the command that replays the counterexample of a claim."""
    words = ["python", "-m", "dpaudit", "replay", str(saved)]
    words += ["--target", claim.target] if ":" in claim.target else []
    usual = claim.own or (claim.epsilon == EPSILON and "epsilon" not in claim.parameters)
    words += [] if usual else ["--epsilon", repr(claim.epsilon).removesuffix(".0")]
    return shlex.join(words)


def named(witness: Witness, path: Path, target: str | None) -> Target:
    """Return what a witness names: something of dpaudit, or what the user names as well."""
    if target is None and ":" in witness.target:
        text = shlex.quote(shown(witness.target))
        rule = f"is about {text}, which a file alone cannot run; to run it, add --target {text}"
        raise InvalidArgument("file", path, rule)
    if target is not None:
        require_named(witness, path, target)
    return resolve(witness.target if target is None else target)


def require_named(witness: Witness, path: Path, target: str) -> None:
    """Raise unless what the user names is what a witness is about."""
    if target.rpartition(":")[2] != witness.target.rpartition(":")[2]:
        rule = f"is not what {path} is about: {shown(witness.target)}."
        raise InvalidArgument("target", target, rule)


def rebuild(witness: Witness, target: Target) -> Algorithm:
    """Return the algorithm with the parameters of a witness; those it does not have are refused."""
    names, arms = _names(target), witness.parameters.get("arms", 0)
    if isinstance(arms, int) and arms > max(len(witness.actions), MOST_ARMS):
        raise InvalidArgument("arms", shown(arms), f"must be at most {MOST_ARMS:,} here.")
    given = {it: value for it, value in witness.parameters.items() if it in target.accepts}
    for name, value in given.items():
        if isinstance(value, str) and name not in names:
            raise InvalidArgument(name, shown(value), "must be a number.")
    algorithm = target.build(len(witness.actions), given)
    own = plain(parameters(algorithm))
    for name, value in witness.parameters.items():
        # what a function fixes by itself must be what the file says, or it is another algorithm
        if name not in given and own.get(name) != value:
            rule = f"is not a parameter of {target.label}; it takes {', '.join(target.accepts)}."
            raise InvalidArgument(shown(name), shown(value), rule)
    return algorithm


def _names(target: Target) -> set[str]:
    """Return the parameters that hold a name: fields of a class that are declared as text."""
    source: Any = target.source
    if not is_dataclass(source):
        return set()
    kinds = {it.name: getattr(it.type, "__name__", str(it.type)) for it in fields(source)}
    return {name for name, kind in kinds.items() if "str" in kind or "Literal" in kind}


def replay(
    witness: Witness, path: Path, target: str | None = None, epsilon: float | None = None
) -> Replayed:
    """Recompute a witness that was read from `path` and judge it against the claim."""
    from dpaudit.exact.witness import recompute, violated

    if epsilon is not None:
        require_positive("epsilon", epsilon)
    algorithm = None if target is None else _read_off(witness, path, target, epsilon)
    if algorithm is not None:
        judged = EPSILON if epsilon is None else epsilon
    else:
        code = named(witness, path, target)
        algorithm = rebuild(witness, code)
        judged = claim_of(code, algorithm, len(witness.actions), Stated(epsilon)).epsilon
        if epsilon is None and judged == math.inf:
            judged = violated(algorithm)
    again = replace(recompute(witness, algorithm), epsilon=judged, target=target or witness.target)
    confirmed = again.loss.lower > judged
    return Replayed(again, confirmed, again.loss.meets(witness.loss), witness.epsilon)


def _read_off(witness: Witness, path: Path, target: str, epsilon: float | None) -> Algorithm | None:
    """Return the declaration that code is which declares nothing itself; None for what does."""
    from dpaudit.subject.kinds import Foreign
    from dpaudit.subject.naming import subject_of
    from dpaudit.symbolic.declared import read_off
    from dpaudit.symbolic.subject import CodeTarget as Code
    from dpaudit.symbolic.subject import readable

    require_named(witness, path, target)
    if witness.parameters.keys() != {"arms", "horizon"} or not readable(target):
        return None
    if not isinstance(subject_of(target), Foreign):
        return None
    arms, horizon = witness.parameters["arms"], witness.parameters["horizon"]
    require_integer("arms", arms, 2)
    require_integer("horizon", horizon, len(witness.actions))
    if int(arms) > MOST_ARMS:
        raise InvalidArgument("arms", shown(arms), f"must be at most {MOST_ARMS:,} here.")
    claimed = EPSILON if epsilon is None else epsilon
    return read_off(Code(target, int(arms), int(horizon), claimed), len(witness.actions))[0]


def replayed(path: Path, target: str | None = None, epsilon: float | None = None) -> Replayed:
    """Recompute the witness in a file; what the user names beside it runs in its own process."""
    import msgspec

    asked: dict[str, Any] = {"file": str(path), "target": target, "epsilon": epsilon}
    if target is None or not foreign(target):
        return inside(lambda kind, data: None, **asked)
    read(path)  # what is wrong with the file needs no process to say so
    found = call(Call(target, f"{__name__}:inside", asked, ("dpaudit.exact.horizons",)))
    return msgspec.convert(found, Replayed, strict=False)


def inside(tell: Any, file: str, target: str | None, epsilon: float | None) -> Replayed:
    """Recompute in the process of the target."""
    return replay(read(Path(file)), Path(file), target, epsilon)
