"""Output for people and machines: JSON, files that are never half-written, progress bars."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpaudit.errors import InvalidArgument


def plain(value: Any) -> Any:
    """Return a value as plain JSON data; infinite and undefined numbers become strings."""
    import msgspec

    data = msgspec.to_builtins(value, enc_hook=_hook)
    return _finite(data)


def _hook(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)


def _finite(data: Any) -> Any:
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    if isinstance(data, dict):
        return {key: _finite(item) for key, item in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(item) for item in data]
    return data


def write_json(value: Any, destination: str) -> None:
    """Write a value as indented JSON to a file, or to standard output for `-`."""
    import msgspec

    text = msgspec.json.format(msgspec.json.encode(plain(value)), indent=2).decode() + "\n"
    if destination == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(destination), text)


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise InvalidArgument("file", path, f"cannot be written: {error.strerror}.") from None


def require_writable(destination: str | None) -> None:
    """Raise now rather than after the work if `destination` cannot be written."""
    if destination in (None, "-"):
        return
    path = Path(str(destination))
    if path.is_dir():
        raise InvalidArgument("file", path, "is a directory.")
    if not path.parent.is_dir():
        raise InvalidArgument("file", path, "cannot be written: its directory does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise InvalidArgument("file", path, "cannot be written: permission denied.")


@contextmanager
def progress(description: str, total: float | None) -> Iterator[Any]:
    """Yield `advance(amount, note="")`; draws a bar on a terminal's stderr, silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda amount=1, note="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(description, total=total, note="")

        def advance(amount: float = 1, note: str = "") -> None:
            bar.update(task, advance=amount, note=note)

        yield advance
