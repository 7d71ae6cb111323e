"""From what a user gives (a name, a file and object, an object) to what can be judged."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.mutants import find as find_mutant
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.judging import HORIZON
from dpaudit.sources import source_file
from dpaudit.subject.kinds import Declared, Foreign, InstanceTarget, Subject
from dpaudit.subject.places import name_of
from dpaudit.target import MUTANTS, OFFERED, Target, is_algorithm, load_object, resolve


def subject_of(thing: Any, root: Path | None = None) -> Subject:
    """Return what a name, `file.py:object`, `package.module:object` or an object stands for.

    A file is looked for under `root` (default here) and named from here, so that a replay finds it.
    """
    if isinstance(thing, Declared | Foreign):
        return thing
    if isinstance(thing, str):
        return _named(thing, root or Path.cwd())
    if is_algorithm(thing):
        return _declared(Target(name_of(thing), thing))
    if callable(thing):
        return _called(name_of(thing), thing)
    raise InvalidArgument(
        "algorithm",
        type(thing).__name__,
        "must be an Algorithm, a name, file.py:object or a callable black box.",
    )


def _named(text: str, root: Path) -> Subject:
    place, colon, name = text.rpartition(":")
    if not colon:
        if text.startswith(MUTANTS):
            mutant = find_mutant(text.removeprefix(MUTANTS))
            if not mutant.declared:
                return Foreign(text, mutant.source)
        return Declared(resolve(text))
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))  # a target may import modules of its project
    if place.endswith(".py"):
        text = f"{os.path.relpath(root / place)}:{name}"
    source = load_object(text)
    if is_algorithm(source):
        return _declared(Target(text, source))
    return _called(text, source) if inspect.isfunction(source) else _foreign(text, source)


def _declared(target: Target) -> Declared:
    instance = isinstance(target.source, Algorithm)
    return Declared(InstanceTarget(target.text, target.source) if instance else target)


def _called(text: str, source: Callable[..., Any]) -> Subject:
    """Tell a function that returns an Algorithm from a black box, by calling it."""
    target = Target(text, source)
    try:
        target.build(HORIZON, {}, OFFERED)
    except DpauditError:
        return _foreign(text, source)
    return Declared(target)


def _foreign(text: str, source: Any) -> Foreign:
    """Name a black box by its file, which is how `audit --replay` finds it."""
    if not callable(source):
        rule = f"is a {type(source).__name__}, neither an Algorithm nor callable: name a class."
        raise InvalidArgument("TARGET", text, rule)
    place, colon, name = text.rpartition(":")
    file = source_file(source)
    if colon and not place.endswith(".py") and file is not None:
        return Foreign(f"{os.path.relpath(file)}:{name}", source)
    return Foreign(text, source)
