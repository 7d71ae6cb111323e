"""The schemas of the documents that dpaudit writes and reads back, made from their types.

`python docs/schemas/build.py` writes them, one file a kind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from dpaudit.documents import SCHEMAS
from dpaudit.gate.lock import Lock
from dpaudit.judging import Report
from dpaudit.output import plain
from dpaudit.regret_bounds.bound import RegretBound
from dpaudit.sample.report import AuditConclusion as Audited
from dpaudit.verdict import Finding, Witness

DIALECT = "https://json-schema.org/draft/2020-12/schema"
INFINITE = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}
Schema = dict[str, Any]


class PairFile(msgspec.Struct, kw_only=True):
    """Two neighbouring streams: both, or one with the position (from 0) and value that change.

    A stream is a row of rewards, or of pieces [reward, times]. `prefixes` are numbers of first
    actions to look at. Pairs are also written by hand, so kind and schema may be left out.
    """

    stream: list[float | tuple[float, int]]
    neighbour: list[float | tuple[float, int]] | msgspec.UnsetType = msgspec.UNSET
    position: int | msgspec.UnsetType = msgspec.UNSET
    value: float | msgspec.UnsetType = msgspec.UNSET
    name: str = "given"
    prefixes: list[int] = []


class CertificateFile(msgspec.Struct, kw_only=True):
    """What was proved, for `verify`: all fractions as texts, `states` in the words of verify.py."""

    target: str
    kind: Literal["code", "walk", "chains", "tree"]
    arms: int
    horizon: int
    epsilon: str
    charge: str
    sha256: str
    parameters: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    states: list[Any]
    moves: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class ProblemFile(msgspec.Struct):
    """A rule of the gate that a claim breaks."""

    rule: str
    name: str
    message: str


class GatedClaim(msgspec.Struct):
    """A locked claim, judged again."""

    claim: str
    target: str
    verdict: str
    locked: str | None
    epsilon: float | None
    epsilon_lower: float | None
    epsilon_upper: float | None
    problems: list[ProblemFile]
    notes: list[str]
    details: str
    replay: str | None
    place: Any
    findings: list[Finding]
    seconds: float


class GateFile(msgspec.Struct):
    """What `gate --json` writes."""

    exit_code: int
    lock: str
    fresh: int | None
    claims: list[GatedClaim]


class ReplayFile(msgspec.Struct):
    """What `replay --json` writes: whether the loss is above the claim, and what was replayed."""

    confirmed: bool
    agrees: bool
    certified: bool
    witness: Witness


class LedgerFile(msgspec.Struct):
    """What `prove --json` writes: outcomes counted, theorems, and every step in words."""

    counts: dict[str, int]
    theorems: list[dict[str, Any]]
    steps: list[dict[str, str]]
    interrupted: bool


class RegretFile(msgspec.Struct):
    """Regret at the horizon, over runs."""

    mean: float
    std: float
    standard_error: float
    quantiles: dict[str, float]


class CurveFile(msgspec.Struct):
    """Mean regret over time."""

    time: list[int]
    mean: list[float]
    std: list[float]


class SimulationFile(msgspec.Struct, kw_only=True):
    """What `simulate --json` writes."""

    algorithm: str
    parameters: dict[str, Any]
    means: list[float]
    horizon: int
    runs: int
    seed: int
    regret: RegretFile
    pulls: list[float]
    releases: float
    curve: CurveFile
    interrupted: bool
    pulls_per_run: list[list[int]] | msgspec.UnsetType = msgspec.UNSET


class InstanceFile(msgspec.Struct, kw_only=True):
    """The bounds of one instance; linear ones and other notions have fields of their own."""

    instance: str
    means: list[float]
    horizon: int
    bounds: list[RegretBound]


class BoundsFile(msgspec.Struct):
    """What `bounds --json` writes."""

    instances: list[InstanceFile]
    interrupted: bool


def published() -> dict[str, Schema]:
    """Return the schema of every kind of document."""
    bounds = {"epsilon_lower": INFINITE, "epsilon_upper": INFINITE}
    pair = _document("pair", PairFile)
    pair["required"] = ["stream"]
    return {
        "witness": _document("witness", Witness) | {"additionalProperties": False},
        "lock": _document("lock", Lock, {"digest": {"type": "string"}}),
        "report": _document("report", Report, bounds),
        "audit": _document("audit", Audited),
        "pair": pair,
        "log": _lines("log"),
        "gate": _document("gate", GateFile),
        "replay": _document("replay", ReplayFile),
        "certificate": _document("certificate", CertificateFile),
        "ledger": _document("ledger", LedgerFile),
        "simulation": _document("simulation", SimulationFile),
        "bounds": _document("bounds", BoundsFile),
    }


def _document(kind: str, typed: Any, more: Schema | None = None) -> Schema:
    """Return the schema of a type, with kind and schema as its first fields."""
    [top], parts = msgspec.json.schema_components([typed], ref_template="#/$defs/{name}")
    parts = _infinite(parts)
    own = parts.pop(top["$ref"].rpartition("/")[2])
    first, more = _mark(kind), more or {}
    whole: Schema = {
        "$schema": DIALECT,
        "title": f"dpaudit {kind}, schema {SCHEMAS[kind]}",
        **{name: rule for name, rule in own.items() if name != "title"},
        "properties": first | more | own["properties"],
        "required": [*first, *more, *own["required"]],
        "$defs": parts,
    }
    return whole


def _lines(kind: str) -> Schema:
    """Return the schema of one line of a log: the audit first, then a block and its result."""
    head = {"type": "object", "properties": _mark(kind), "required": [*_mark(kind)]}
    pair: Schema = {"type": "array", "minItems": 2, "maxItems": 2}
    return {
        "$schema": DIALECT,
        "title": f"dpaudit {kind}, schema {SCHEMAS[kind]}: one line",
        "description": "The first line names the audit; every other one a finished block.",
        "anyOf": [
            pair | {"prefixItems": [{"const": "audit"}, head]},
            pair | {"prefixItems": [{"type": "string"}, {}]},
        ],
    }


def _mark(kind: str) -> Schema:
    return {"dpaudit": {"const": kind}, "schema": {"const": SCHEMAS[kind]}}


def _infinite(schema: Any) -> Any:
    """Let the numbers of a schema be infinite, which is written as text; a witness has no such."""
    if isinstance(schema, list):
        return [_infinite(item) for item in schema]
    if not isinstance(schema, dict) or schema.get("title") == Witness.__name__:
        return schema
    if schema.get("type") == "number":
        return INFINITE | {"default": plain(schema["default"])} if "default" in schema else INFINITE
    return {name: _infinite(rule) for name, rule in schema.items()}


def main() -> None:
    """Write a file for every kind."""
    for kind, schema in published().items():
        text = json.dumps(schema, indent=1) + "\n"
        (Path(__file__).resolve().parent / f"{kind}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
