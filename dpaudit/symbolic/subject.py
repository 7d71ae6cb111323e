"""From `file.py:object` to code that can be walked: load it with stand-ins, say how it is built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpaudit.errors import InvalidArgument
from dpaudit.sample.boxes import accepted
from dpaudit.sources import CORE
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.drivers import driver_of
from dpaudit.symbolic.loading import Loader
from dpaudit.symbolic.run import Run, active
from dpaudit.symbolic.snapshot import Roots
from dpaudit.symbolic.walk import Subject


def located(text: str) -> tuple[Path, str]:
    """Return the file and the object that TARGET names."""
    place, _, name = text.rpartition(":")
    path = Path(place)
    if not place.endswith(".py") or not path.is_file() or not name:
        raise InvalidArgument("TARGET", text, "must be file.py:object.")
    return path.absolute(), name


def loader_of(path: Path, **real: Any) -> Loader:
    """Return a loader for a file; in dpaudit's own core the package is part of the judged code."""
    resolved = path.resolve()
    root = CORE.parent.parent if resolved.is_relative_to(CORE) else None
    return Loader(path.parent, root, **real)


def builder(target: Any, arms: int, horizon: int, epsilon: float, rng: Any) -> Callable[[], Any]:
    """Return how a policy is built: with those of the four keywords that the object accepts."""
    names = accepted(target)
    values = {"arms": arms, "horizon": horizon, "epsilon": epsilon, "rng": rng}
    if names is None:
        return lambda: target
    return lambda: target(**{name: values[name] for name in names})


def subject_of(text: str, arms: int, horizon: int, epsilon: float) -> Subject:
    """Return the code that TARGET names, loaded to meet symbols."""
    path, name = located(text)
    loader = loader_of(path)
    run = Run(drawing=False)
    with active(run):
        target = loader.target(path, name, text)
        modules = {module.__name__ for module in loader.own}

        def own(kind: type) -> bool:
            plain = all(
                base.__module__ in modules or base in (object, tuple) or base.__module__ in ("abc", "typing")
                for base in kind.__mro__
            )
            return plain and kind.__module__ in modules

        roots = Roots(loader.own, own)
    build = builder(target, arms, horizon, epsilon, Source(False))
    return Subject(build, driver_of, arms, frozenset(loader.files), roots)
