"""JSON schemas of the documents that dpaudit writes and reads back, made from their types.

They are published in docs/schemas/, one file a kind; `python docs/schemas/build.py` writes them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from dpaudit.documents import SCHEMAS
from dpaudit.gate.lock import Lock
from dpaudit.judging import Report
from dpaudit.output import plain
from dpaudit.sample.report import Report as Audited
from dpaudit.verdict import Witness

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
