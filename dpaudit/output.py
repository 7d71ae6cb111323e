"""Output for people and machines: JSON, files that are never half-written, progress bars.

A regular file is replaced as a whole, keeps its mode, and is found through links; a device or a
pipe is opened and written. What dpaudit did not make it does not replace: an existing file must be
empty or carry the mark of its kind, which everything that dpaudit writes has near an end.
"""

from __future__ import annotations

import math
import os
import secrets
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from rich.console import Console

BETWEEN = 20.0  # seconds between two lines of progress where there is no terminal
LONG = 1 << 20  # bytes of JSON that nobody reads line by line
NEAR = 1 << 14  # bytes at either end of a file that are searched for its mark
PAGE = '<meta name="generator" content="dpaudit">'


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


def mark_of(kind: str) -> str:
    """Return what tells a JSON document of this kind from every other file."""
    return f'"dpaudit": "{kind}"'


def write_json(
    value: Any, destination: str, kind: str | None = None, mark: str | None = None
) -> None:
    """Write a value as JSON to a file, or to standard output for `-`; a short one is indented.

    A `kind` of `documents.SCHEMAS` is written with its name and schema first, which is its mark;
    other data replace a file with the given mark, or one that begins with the same key.
    """
    import msgspec

    data = plain(value)
    if kind is not None:
        from dpaudit.documents import SCHEMAS

        data = {"dpaudit": kind, "schema": SCHEMAS[kind]} | data
        mark = mark_of(kind)
    encoded = msgspec.json.encode(data)
    indent = 2 if len(encoded) < LONG else 0
    text = msgspec.json.format(encoded, indent=indent).decode() + "\n"
    if destination == "-":
        sys.stdout.write(text)
    else:
        write_text(Path(destination), text, mark or text[: text.find('":') + 2])


def write_text(path: Path, text: str, mark: str | None = None) -> None:
    """Write a file as `write_bytes` does; its mark is its first line unless another is given."""
    write_bytes(path, text.encode(), mark or text.partition("\n")[0])


def write_bytes(path: Path, data: bytes, mark: str) -> None:
    """Write a file whole or not at all; a device or a pipe is written to, a foreign file stays."""
    _require_own(path, mark)
    try:
        _write(path, data)
    except OSError as error:
        raise InvalidArgument("file", path, f"cannot be written: {error.strerror}.") from None


def _write(path: Path, data: bytes) -> None:
    found = _status(path)
    if found is not None and not _replaceable(found):
        # /dev/stdout that is a file: our own stream would go on writing to what was replaced
        streams = [fd for fd in (1, 2) if _same(fd, found)]
        sys.stdout.flush()
        with os.fdopen(os.dup(streams[0]), "wb") if streams else path.open("wb") as file:
            file.write(data)
        return
    real = Path(os.path.realpath(path))
    temporary = real.parent / f".dpaudit-{secrets.token_hex(8)}"
    # as `open` makes files, so that the umask counts
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        if found is not None:
            with suppress(OSError, AttributeError):
                os.chown(temporary, found.st_uid, found.st_gid)
            os.chmod(temporary, stat.S_IMODE(found.st_mode))
        os.replace(temporary, real)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _status(path: Path) -> os.stat_result | None:
    """Return what lies at a path, links followed, or None where nothing does yet."""
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _replaceable(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and not (_same(1, found) or _same(2, found))


def _same(descriptor: int, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), found)
    except OSError:
        return False


def _require_own(path: Path, mark: str) -> None:
    """Raise if a regular file lies there that holds something and has not this mark."""
    try:
        found = _status(path)
        if found is None or not found.st_size or not _replaceable(found):
            return
        with path.open("rb") as file:
            near = file.read(NEAR)
            file.seek(max(0, found.st_size - NEAR))
            near += file.read()
    except OSError as error:
        raise InvalidArgument("file", path, f"cannot be written: {error.strerror}.") from None
    if mark.encode() not in near:
        rule = "exists and is not what this would write; remove it, or name another file."
        raise InvalidArgument("file", path, rule)


def require_writable(destination: str | None, mark: str | None = None) -> None:
    """Raise now rather than after the work if `destination` cannot be written.

    With the mark of what will be written, that includes a foreign file.
    """
    if destination in (None, "-"):
        return
    path = Path(str(destination))
    if os.path.isdir(path):
        raise InvalidArgument("file", path, "is a directory.")
    real = Path(os.path.realpath(path))
    there = os.path.exists(path)
    if not there and not os.path.isdir(real.parent):
        raise InvalidArgument("file", path, "cannot be written: its directory does not exist.")
    places = ([path] if there else []) + ([real.parent] if not there or real.is_file() else [])
    if not all(os.access(place, os.W_OK) for place in places):
        raise InvalidArgument("file", path, "cannot be written: permission denied.")
    if mark is not None:
        _require_own(path, mark)


@contextmanager
def waiting(out: Console, description: str) -> Iterator[Callable[[str], Any]]:
    """Yield what is told how far work is: a spinner on a terminal, elsewhere a line at times.

    An empty text ends it.
    """
    if out.is_terminal:
        with out.status(description) as status:
            yield lambda text: status.update(text) if text else status.stop()
        return
    said, ended, begun = [description], threading.Event(), time.monotonic()

    def tick() -> None:
        while not ended.wait(BETWEEN):
            sys.stderr.write(f"{said[-1]}, {time.monotonic() - begun:,.0f} s\n")
            sys.stderr.flush()

    threading.Thread(target=tick, daemon=True).start()
    try:
        yield lambda text: said.append(text) if text else ended.set()
    finally:
        ended.set()


@contextmanager
def progress(description: str, total: float | None) -> Iterator[Any]:
    """Yield `advance(amount, note="")`: a bar on a terminal's stderr, elsewhere a line at times."""
    if not sys.stderr.isatty():
        yield _lines(description, total)
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


def _lines(description: str, total: float | None) -> Any:
    """Return `advance(amount, note="")` for a log: a line every `BETWEEN` seconds at most."""
    begun = last = time.monotonic()
    done = 0.0

    def advance(amount: float = 1, note: str = "") -> None:
        nonlocal done, last
        done += amount
        if (now := time.monotonic()) - last < BETWEEN:
            return
        last = now
        share = f"{done:,.0f}" if total is None else f"{done:,.0f} of {total:,.0f}"
        sys.stderr.write(f"{description}: {share}, {now - begun:,.0f} s. {note}".rstrip() + "\n")
        sys.stderr.flush()

    return advance
