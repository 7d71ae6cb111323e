"""Names and files of targets: how a command line finds an object again, and where its source is."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

from dpaudit.core.algorithm import Algorithm


def name_of(thing: Any) -> str:
    """Return how a command line can name an object; its bare name where none can."""
    from dpaudit.core import algorithms

    kind = type(thing) if isinstance(thing, Algorithm) else thing
    module, name = kind.__module__, getattr(kind, "__qualname__", type(thing).__qualname__)
    package, _, last = module.rpartition(".")
    if package == algorithms.__name__:
        return str(last)
    file = source_file(kind)
    if "<locals>" in name or "." in name or file is None:
        return str(name)
    if package:
        return f"{module}:{name}"
    return f"{os.path.relpath(file)}:{name}"


def file_of(text: str, source: Any) -> Path | None:
    """Return the file of a target: the one that its name gives, else where Python found it."""
    place = text.rpartition(":")[0]
    return Path(place).resolve() if place.endswith(".py") else source_file(source)


def source_file(thing: Any) -> Path | None:
    """Return the file that defines an object, if there is one."""
    kind = type(thing) if isinstance(thing, Algorithm) else thing
    try:
        file = inspect.getsourcefile(inspect.unwrap(kind) if inspect.isfunction(kind) else kind)
    except TypeError:
        module = sys.modules.get(getattr(type(thing), "__module__", ""))
        file = getattr(module, "__file__", None)
    return Path(file).resolve() if file and Path(file).is_file() else None
