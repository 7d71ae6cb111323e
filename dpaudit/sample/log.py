"""The block log: what a killed audit had done, so that it can go on to the same result.

One JSON line per finished block, flushed to disk before the next one counts; the first line names
the audit. A last line cut short by a kill is dropped. A log of another audit (another target,
other code, seed or size) is refused.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from dpaudit.documents import parse
from dpaudit.errors import InvalidArgument
from dpaudit.output import plain


class BlockLog:
    """Results of blocks that a killed audit had finished, by name; new ones go to the file."""

    def __init__(self, done: dict[str, Any], file: Any = None) -> None:
        self.done = done
        self._file = file

    @classmethod
    def nowhere(cls) -> BlockLog:
        """Return a log that is kept nowhere."""
        return cls({})

    @classmethod
    def start(cls, path: str, audit: dict[str, Any]) -> BlockLog:
        """Begin a new log; an existing one is not overwritten."""
        try:
            file = Path(path).open("xb")  # noqa: SIM115  kept open for the audit
        except FileExistsError:
            raise InvalidArgument("log", path, "exists; continue it with --resume.") from None
        except OSError as error:
            raise InvalidArgument("log", path, f"cannot be written: {error.strerror}.") from None
        log = cls({}, file)
        log._write(["audit", plain(audit)])
        return log

    @classmethod
    def resume(cls, path: str, audit: dict[str, Any]) -> BlockLog:
        """Continue the log of the same audit."""
        try:
            if Path(path).exists() and not Path(path).is_file():
                raise InvalidArgument("resume", path, "is not a regular file.")
            file = Path(path).open("r+b")  # noqa: SIM115  kept open for the audit
        except OSError as error:
            raise InvalidArgument("resume", path, f"cannot be read: {error.strerror}.") from None
        text = file.read()
        whole = text.rfind(b"\n") + 1
        first = msgspec.json.encode(["audit", plain(audit)])
        try:
            lines = [parse(line) for line in text[:whole].splitlines()]
            records = [(str(name), value) for name, value in lines]
        except (ValueError, TypeError, RecursionError):
            raise InvalidArgument("resume", path, "is not a log of an audit.") from None
        if not records and first.startswith(text):
            # killed before its first line was complete: nothing is lost
            records = [("audit", plain(audit))]
        name, header = records[0] if records else ("", None)
        if name != "audit" or not isinstance(header, dict):
            raise InvalidArgument("resume", path, "is not a log of an audit.")
        for key, value in plain(audit).items():
            if header.get(key) != value:
                raise InvalidArgument("resume", path, _other(key, header.get(key), value))
        file.seek(whole)
        file.truncate()
        log = cls(dict(records[1:]), file)
        if not whole:
            log._write(["audit", plain(audit)])
        return log

    def record(self, name: str, value: Any) -> None:
        """Write the result of a block."""
        self._write([name, value])

    def _write(self, record: list[Any]) -> None:
        if self._file is not None:
            self._file.write(msgspec.json.encode(record) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _other(key: str, before: Any, now: Any) -> str:
    """Say how an audit differs from the one of a log; of a target's code, which file changed."""
    if key == "target" and isinstance(before, dict):
        for kind in ("sources", "packages"):
            old, new = before.get(kind), now.get(kind)
            if isinstance(old, dict) and isinstance(new, dict) and old != new:
                names = sorted(it for it in old.keys() | new.keys() if old.get(it) != new.get(it))
                what = f"{names[0]} has changed" + (
                    f", and {len(names) - 1} more" * (len(names) > 1)
                )
                return f"is the log of other code: {what}. Start anew with --log."
        parts = [it for it in before if before.get(it) != now.get(it)]
        key = parts[0] if len(parts) == 1 else key
    return f"is the log of another audit: its {key} is different."
