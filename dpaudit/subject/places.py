"""Names of targets: how a command line finds an object again."""

from __future__ import annotations

import inspect
import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.sources import code_of, file_of, source_file
from dpaudit.symbolic.run import CodeLine


def name_of(thing: Any) -> str:
    """Return how a command line can name an object; its bare name where none can."""
    from dpaudit.core import algorithms

    kind = code_of(thing)
    module, name = kind.__module__, str(kind.__qualname__)
    package, _, last = module.rpartition(".")
    if package == algorithms.__name__:
        return str(last)
    file = source_file(kind)
    # an instance of anything but an Algorithm cannot be built again from its class alone
    found = kind is thing or isinstance(thing, Algorithm)
    if "." in name or file is None or not found:
        return name
    return f"{module}:{name}" if package else f"{os.path.relpath(file)}:{name}"


def place_of(text: str, source: Any) -> CodeLine | None:
    """Return where the code of a target begins, if that is below the working directory."""
    file = file_of(text, source)
    if file is None or not file.is_relative_to(Path.cwd().resolve()):
        return None
    line = 1
    with suppress(OSError, TypeError):
        line = inspect.getsourcelines(code_of(source))[1] or 1
    return CodeLine(file.relative_to(Path.cwd().resolve()).as_posix(), line)


def at_line(place: CodeLine | None, line: int | None) -> CodeLine | None:
    """Return a place moved to the line that a failed proof names, if it names one."""
    return replace(place, line=line) if place is not None and line is not None else place
