"""TARGET: an algorithm by name, `mutants/NAME`, `package.module:object`, or `file.py:object`.

The object is a class of `Algorithm`, an instance, or a function that returns one. It is built with
the parameters that it accepts; an instance keeps its own where none is given. Code that is not
declared as an `Algorithm` is for `audit`, which can refute and never proves.
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import build, find
from dpaudit.errors import DpauditError, InvalidArgument, UnknownName

NONE: Mapping[str, Any] = MappingProxyType({})
MUTANTS = "mutants/"


@dataclass(frozen=True)
class Target:
    """What TARGET names, and how to build the algorithm from parameters."""

    text: str
    source: Any

    @property
    def label(self) -> str:
        """The name to print and to use in file names."""
        text = self.text.rpartition(":")[2] if ":" in self.text else self.text
        return text.removeprefix(MUTANTS).rpartition(".")[2]

    @property
    def accepts(self) -> dict[str, bool]:
        """The parameters, and whether each already has a value (its default, or an instance's)."""
        source = self.source
        if isinstance(source, Algorithm):
            return {field.name: True for field in dataclasses.fields(source) if field.init}
        if isinstance(source, type) and issubclass(source, Algorithm):
            empty = dataclasses.MISSING
            return {
                field.name: not (field.default is empty and field.default_factory is empty)
                for field in dataclasses.fields(source)
                if field.init
            }
        return {
            name: parameter.default is not parameter.empty
            for name, parameter in inspect.signature(source).parameters.items()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        }

    def build(
        self, horizon: int, given: Mapping[str, Any], offered: Mapping[str, Any] = NONE
    ) -> Algorithm:
        """Return the algorithm for a horizon, with the parameters `given`.

        A given parameter that it does not accept is an error. `offered` ones fill what is required
        and not given. The horizon goes to those that ask for it.
        """
        accepts = self.accepts
        for name, value in given.items():
            if name not in accepts:
                rule = f"is not a parameter of {self.label}; it takes {', '.join(accepts)}."
                raise InvalidArgument(name, value, rule)
        values = {name: value for name, value in offered.items() if accepts.get(name) is False}
        values |= given
        if "horizon" in accepts and "horizon" not in given:
            values["horizon"] = horizon
        try:
            algorithm = self._make(values)
        except DpauditError:
            raise
        except (Exception, SystemExit) as error:
            raise InvalidArgument("TARGET", self.text, f"cannot be built: {said(error)}") from None
        if not isinstance(algorithm, Algorithm):
            raise _not_an_algorithm(self.text, algorithm)
        return algorithm

    def _make(self, values: Mapping[str, Any]) -> Any:
        source = self.source
        if isinstance(source, Algorithm):
            return dataclasses.replace(source, **values)
        if isinstance(source, type) and issubclass(source, Algorithm):
            return build(source, self.label, **values)
        return source(**values)


def resolve(text: str, beside: Path | None = None) -> Target:
    """Return what TARGET names; a relative file is also looked for `beside` another one."""
    place, colon, name = text.rpartition(":")
    if not colon:
        if text.endswith(".py"):
            raise InvalidArgument("TARGET", text, "needs an object: write file.py:object.")
        return _mutant(text) if text.startswith(MUTANTS) else Target(text, find(text))
    if not place or not name:
        raise InvalidArgument(
            "TARGET", text, "must be a name, package.module:object or file.py:object."
        )
    module = _load_file(text, place, beside) if place.endswith(".py") else _load_module(text, place)
    try:
        source = getattr(module, name)
    except AttributeError:
        public = [key for key in vars(module) if not key.startswith("_")]
        raise UnknownName(f"object in {place}", name, public or ["(nothing)"]) from None
    if isinstance(source, Algorithm):
        return Target(text, source)
    if inspect.isclass(source):
        if not issubclass(source, Algorithm):
            raise _not_an_algorithm(text, source)
        if inspect.isabstract(source):
            missing = ", ".join(sorted(source.__abstractmethods__))
            raise InvalidArgument("TARGET", text, f"is abstract: it does not define {missing}.")
        return Target(text, source)
    if inspect.isfunction(source):
        return Target(text, source)
    raise _not_an_algorithm(text, source)


def _mutant(text: str) -> Target:
    from dpaudit.core.mutants import find as find_mutant

    mutant = find_mutant(text.removeprefix(MUTANTS))
    if not mutant.declared:
        raise _not_an_algorithm(text, mutant.source)
    return Target(text, mutant.source)


def parameters(algorithm: Algorithm) -> dict[str, Any]:
    """Return the parameters of an algorithm as plain values, without those left at None."""
    values = {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}
    return {name: value for name, value in values.items() if value is not None}


def see_neighbours(path: Path) -> None:
    """Let a file import the modules beside it, as when Python runs it."""
    if (folder := str(path.parent.resolve())) not in sys.path:
        sys.path.insert(0, folder)


def _load_file(text: str, place: str, beside: Path | None) -> ModuleType:
    path = Path(place)
    if not path.is_file() and beside is not None and (beside / place).is_file():
        path = beside / place
    if not path.is_file():
        raise InvalidArgument("TARGET", text, f"cannot be loaded: there is no file {place}.")
    see_neighbours(path)
    name = path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidArgument("TARGET", text, f"cannot be loaded: {place} is not Python source.")
    module = importlib.util.module_from_spec(spec)
    known = sys.modules.get(name)
    # dataclasses looks its module up by name while the file runs.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise InvalidArgument("TARGET", text, f"cannot be imported: {said(error)}") from None
    finally:
        if known is not None:
            sys.modules[name] = known
    return module


def _load_module(text: str, place: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise InvalidArgument("TARGET", text, f"cannot be imported: {said(error)}") from None


def said(error: BaseException) -> str:
    """Return an error of foreign code in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else f"{type(error).__name__}."


def _not_an_algorithm(text: str, found: Any) -> InvalidArgument:
    kind = found.__name__ if inspect.isclass(found) else type(found).__name__
    rule = f"is a {kind}, not an Algorithm; a BlackBox (rewards in, actions out) is for `audit`."
    return InvalidArgument("TARGET", text, rule)
