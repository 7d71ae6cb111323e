"""Replay: a saved counterexample, recomputed from its streams and actions alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.target import resolve
from dpaudit.verdict import Enclosure, Witness


@dataclass(frozen=True)
class Replayed:
    """A witness with fresh numbers, and whether it violates its claim and agrees with the file."""

    witness: Witness
    confirmed: bool
    agrees: bool

    @property
    def loss(self) -> Enclosure:
        """The loss as recomputed."""
        return self.witness.loss


def read(path: Path) -> Witness:
    """Return the witness in a file; anything else costs one line."""
    import msgspec

    from dpaudit.exact.witness import from_json

    try:
        data = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        said = error.strerror or type(error).__name__
        raise InvalidArgument("file", path, f"cannot be read: {said}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidArgument("file", path, f"is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise InvalidArgument("file", path, "holds no counterexample of `check --witness`.")
    if "findings" in data:
        rule = "is a report; save the counterexample alone with `check --witness FILE`."
        raise InvalidArgument("file", path, rule)
    try:
        return from_json(data)
    except DpauditError as error:
        said = str(error).partition("is not a witness: ")[2] or str(error)
        rule = f"holds no counterexample of `check --witness`: {said}"
        raise InvalidArgument("file", path, rule) from None


def rebuild(witness: Witness, beside: Path) -> Algorithm:
    """Return the algorithm that a witness names, with its parameters."""
    target = resolve(witness.target, beside)
    accepts = target.accepts
    given: dict[str, Any] = {k: v for k, v in witness.parameters.items() if k in accepts}
    return target.build(len(witness.actions), given)


def replay(witness: Witness, beside: Path) -> Replayed:
    """Recompute a witness; a target in a file is looked for here, then `beside` the witness."""
    from dpaudit.horizons import fresh

    algorithm = rebuild(witness, beside)
    again = fresh(witness, algorithm)
    agrees = again.loss.lower <= witness.loss.upper and witness.loss.lower <= again.loss.upper
    return Replayed(again, again.loss.lower > witness.epsilon, agrees)
