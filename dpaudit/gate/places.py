"""Names and files of targets: how a command line finds an object again, and where its source is."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

from dpaudit.core.algorithm import Algorithm


def name_of(thing: Any) -> str:
    """Return how a command line can name an object; its bare name where none can."""
    from dpaudit.core import algorithms

    kind = _code(thing)
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


def file_of(text: str, source: Any) -> Path | None:
    """Return the file of a target: the one that its name gives, else where Python found it."""
    place = text.rpartition(":")[0]
    return Path(place).resolve() if place.endswith(".py") else source_file(source)


def source_file(thing: Any) -> Path | None:
    """Return the file that defines an object, if there is one."""
    try:
        file = inspect.getsourcefile(_code(thing))
    except TypeError:
        return None
    return Path(file).resolve() if file and Path(file).is_file() else None


def _code(thing: Any) -> Any:
    """Return a class or function itself, and the class of anything else."""
    return thing if inspect.isclass(thing) or inspect.isfunction(thing) else type(thing)
