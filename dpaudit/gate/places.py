"""Names of targets: how a command line finds an object again."""

from __future__ import annotations

import os
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.sources import code_of, source_file


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
