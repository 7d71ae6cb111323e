"""Files from outside as data: strict JSON, one line for anything damaged, nothing executed.

A document of dpaudit says what it is, `"dpaudit": KIND`, and which `schema` it follows; the first
documents said neither. An older schema is migrated step by step, a newer one is refused. The kinds
and their published schemas are in docs/schemas/.
"""

from __future__ import annotations

import json
import math
import os
import stat
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from dpaudit.errors import InvalidArgument

LARGEST = 1 << 26  # bytes
DIGITS = 40  # of a whole number: seeds have 20
SHOWN = 80
SCHEMAS = {
    "witness": 2,
    "lock": 4,
    "report": 1,
    "audit": 1,
    "log": 1,
    "pair": 1,
    "gate": 1,
    "replay": 1,
    "certificate": 2,
    "ledger": 1,
    "simulation": 1,
    "bounds": 1,
}
UNSEEN = ("Cc", "Cf", "Cs")  # what a terminal obeys instead of showing

Migration = Callable[[dict[str, Any]], dict[str, Any]]
NONE: Mapping[int, Migration] = {}


class Damaged(InvalidArgument):
    """A file that can be opened and holds no strict JSON."""


def read(path: Path, name: str = "file") -> Any:
    """Return the JSON in a regular file whose texts may be printed; see `load`."""
    data = load(path, name)
    try:
        _require_visible(data)
    except ValueError as error:
        raise Damaged(name, path, f"is not JSON for a terminal: {error}.") from None
    return data


def load(path: Path, name: str = "file") -> Any:
    """Return the JSON in a regular file; raise `InvalidArgument` on anything else.

    Stricter than most readers: no key twice, no NaN, no number beyond doubles, at most 64 MiB. A
    pipe or a device is refused without waiting for it.
    """
    try:
        return parse(_content(path))
    except OSError as error:
        said = error.strerror or type(error).__name__
        raise InvalidArgument(name, path, f"cannot be read: {said}.") from None
    except (ValueError, RecursionError) as error:
        said = "nested too deeply" if isinstance(error, RecursionError) else shown(str(error))
        raise Damaged(name, path, f"is not JSON: {said.rstrip('.')}.") from None


def parse(content: bytes) -> Any:
    """Return strict JSON as data; raise `ValueError` or `RecursionError`."""
    return json.loads(
        content.decode("utf-8"),
        object_pairs_hook=_object,
        parse_float=_float,
        parse_int=_whole,
        parse_constant=_constant,
    )


def _content(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb", closefd=True) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "it is no regular file")
        if found.st_size > LARGEST:
            raise OSError(0, f"it has {found.st_size:,} bytes, more than {LARGEST:,}")
        return file.read(LARGEST + 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice")
    return data


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shown(text)} is too large")
    return value


def _whole(text: str) -> int:
    if len(text) > DIGITS:
        raise ValueError(f"a whole number of {len(text)} digits is too large")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _require_visible(data: Any) -> None:
    pending = [data]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += [*item, *item.values()]
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, str) and not item.isprintable():
            hidden = [c for c in item if unicodedata.category(c) in UNSEEN and c not in "\n\t"]
            if hidden:
                raise ValueError(f"a text holds the character U+{ord(hidden[0]):04X}")


def shown(value: object) -> str:
    """Return a value from outside as a message may show it: short, on one line, without commands.

    A terminal obeys some characters, so none but printable ones pass.
    """
    text = value if isinstance(value, str) else repr(value)
    text = "".join(c if c.isprintable() else " " for c in text)
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def versioned(
    data: Any, kind: str, unmarked: int | None = None, migrations: Mapping[int, Migration] = NONE
) -> dict[str, Any]:
    """Return a document's own fields in the newest schema; raise `ValueError` in one sentence.

    `unmarked` is the schema of documents that say neither kind nor schema, where there were such.
    `migrations[n]` takes the fields of schema n to n + 1; one that is missing changes nothing.
    """
    named = _one(kind)
    if not isinstance(data, dict):
        raise ValueError(f"is not {named} of dpaudit.")
    found, schema = data.get("dpaudit", kind), data.get("schema", unmarked)
    if found != kind:
        raise ValueError(f"is {_one(shown(found))} of dpaudit, not {named}.")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise ValueError(f"is not {named} of dpaudit.")
    newest = SCHEMAS[kind]
    if schema > newest:
        rule = f"has schema {schema}; this dpaudit knows up to {newest}: upgrade dpaudit."
        raise ValueError(rule)
    fields = {name: value for name, value in data.items() if name not in ("dpaudit", "schema")}
    for older in range(schema, newest):
        if older in migrations:
            fields = migrations[older](fields)
    return fields


def _one(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
