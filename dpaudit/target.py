"""TARGET: an algorithm by name, `mutants/NAME`, `package.module:object`, or `file.py:object`.

Every command, the gate, a test and `dpaudit.load` find what they are given here, and nowhere else.
The object is a class of `Algorithm`, an instance, or a function that returns one. It is built with
the parameters that it accepts; an instance keeps its own where none is given. Code that is not
declared as an `Algorithm` is for `audit`, which can refute and never proves.

`resolve` and `load` import the file into the process that calls them, where modules that are loaded
already stay: a file that would get another folder's module in place of its own is refused. What a
command, a gate or a test names by text is judged in a process of its own (`dpaudit.process`).
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any
from weakref import WeakSet

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import build, find
from dpaudit.errors import DpauditError, InvalidArgument, UnknownName

NONE: Mapping[str, Any] = MappingProxyType({})
MUTANTS = "mutants/"
OWN = __name__.partition(".")[0]
LONGEST_LINE = 300
OFFERED: Mapping[str, Any] = MappingProxyType({"arms": 2})  # where nobody says how many
LOADED: WeakSet[ModuleType] = WeakSet()  # the modules that stand for files


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
        if horizon >= 2**63:
            raise InvalidArgument("horizon", f"{horizon:,}", "must be below 2^63, as counts are.")
        accepts = self.accepts
        values = {name: value for name, value in offered.items() if accepts.get(name) is False}
        values |= given
        if "horizon" in accepts and "horizon" not in given:
            values["horizon"] = horizon
        return self.make(values)

    def make(self, values: Mapping[str, Any]) -> Algorithm:
        """Return the algorithm with exactly these parameters; what is wrong costs one line."""
        accepts = self.accepts
        for name, value in values.items():
            if name not in accepts:
                rule = f"is not a parameter of {self.label}; it takes {', '.join(accepts)}."
                raise InvalidArgument(name, value, rule)
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


def load(target: str, **values: Any) -> Algorithm:
    """Build what TARGET names: `load("adap_klucb", arms=5, epsilon=1.0, alpha=3.1)`; two arms."""
    found = resolve(target)
    usual = {it: value for it, value in OFFERED.items() if found.accepts.get(it) is False}
    return found.make(usual | values)


def foreign(text: str) -> bool:
    """Tell whether TARGET names code that is not part of dpaudit: a file, or another's module."""
    place, colon, _ = text.rpartition(":")
    return bool(colon) and place.partition(".")[0] != OWN


def resolve(text: str, beside: Path | None = None) -> Target:
    """Return what TARGET names; a relative file is also looked for `beside` another one."""
    if ":" not in text:
        if text.endswith(".py"):
            raise InvalidArgument("TARGET", text, "needs an object: write file.py:object.")
        return _mutant(text) if text.startswith(MUTANTS) else Target(text, _named(text))
    source = load_object(text, beside)
    if not (is_algorithm(source) or inspect.isfunction(source)):
        raise _not_an_algorithm(text, source)
    return Target(text, source)


def _named(text: str) -> type[Algorithm]:
    """Return the class of an algorithm by its name; a path in its place is said to be one."""
    try:
        return find(text)
    except UnknownName:
        path = Path(text)
        if not path.exists():
            raise
        kind = "directory" if path.is_dir() else "file"
        raise InvalidArgument("TARGET", text, f"is a {kind}: write file.py:object.") from None


def load_object(text: str, beside: Path | None = None) -> Any:
    """Return the object that file.py:object or package.module:object names, whatever it is."""
    place, colon, name = text.rpartition(":")
    if not place or not name:
        raise InvalidArgument(
            "TARGET", text, "must be a name, package.module:object or file.py:object."
        )
    if place.endswith(".py"):
        module = load_file(require_file(text, place, beside), text)
    else:
        module = _load_module(text, place)
    try:
        source = getattr(module, name)
    except AttributeError:
        if getattr(module, "__file__", None) is None and Path(place).is_dir():
            rule = f"names a directory: write {place}/file.py:{name}."
            raise InvalidArgument("TARGET", text, rule) from None
        public = [key for key in vars(module) if not key.startswith("_")]
        raise UnknownName(f"object in {place}", name, public or ["(nothing)"]) from None
    except (Exception, SystemExit) as error:
        raise InvalidArgument("TARGET", text, f"cannot be loaded: {said(error)}") from None
    if is_algorithm(source) and inspect.isabstract(source):
        missing = ", ".join(sorted(source.__abstractmethods__))
        raise InvalidArgument("TARGET", text, f"is abstract: it does not define {missing}.")
    return source


def is_algorithm(source: Any) -> bool:
    """Tell whether an object is declared: an `Algorithm`, or a class of them."""
    kind = source if inspect.isclass(source) else type(source)
    return issubclass(kind, Algorithm)


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


def require_file(text: str, place: str, beside: Path | None = None) -> Path:
    """Return the file that TARGET names, or raise that there is none."""
    path = Path(place)
    if not path.is_file() and beside is not None and (beside / place).is_file():
        path = beside / place
    if not path.is_file():
        raise InvalidArgument("TARGET", text, f"cannot be loaded: there is no file {place}.")
    return path.absolute()


@dataclass(frozen=True)
class ImportedAs:
    """How a file is imported: by its name, or by that in its package, which lies in `above`."""

    name: str
    above: Path | None = None

    @property
    def package(self) -> str:
        """The outermost package, if the file is imported from one."""
        return self.name.partition(".")[0] if self.above is not None else ""


def imported_as(path: Path) -> ImportedAs:
    """Return how a file is imported: from its package where it imports something of that."""
    path = Path(os.path.abspath(path))  # without `..`: modules are told apart by their paths
    top, names = path, [path.stem]
    while (top.parent / "__init__.py").is_file():
        top = top.parent
        names.insert(0, top.name)
    own = path.resolve().is_relative_to(Path(__file__).parent)
    if own or not {"", top.name} & _imported(_text(path)) or len(names) == 1:
        return ImportedAs(path.stem)
    return ImportedAs(".".join(names), top.parent)


def load_file(path: Path, text: str) -> ModuleType:
    """Run a file as a module of its own name, which finds the modules beside it.

    What imports from its own package is imported as a part of it.
    """
    place = imported_as(path)
    folders = [str(path.parent.resolve()), *([str(place.above)] if place.above else [])]
    sys.path[:] = [*folders, *(it for it in sys.path if it not in folders)]
    for name, other in _displaced(path.resolve()):
        rule = (
            f"needs the {name} beside it, but another is loaded here ({other}); "
            "judge it by a command, in a process of its own."
        )
        raise InvalidArgument("TARGET", text, rule)
    name = place.name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InvalidArgument("TARGET", text, f"cannot be loaded: {path} is not Python source.")
    known = None if place.above else sys.modules.get(name)
    try:
        if place.above:
            sys.modules.pop(name, None)
            module = importlib.import_module(name)
        else:
            module = importlib.util.module_from_spec(spec)
            # dataclasses looks its module up by name while the file runs, and pickle later on
            sys.modules[name] = module
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        rule = f"cannot be imported: {said(error)}"
        if isinstance(error, ImportError) and "no known parent" in str(error):
            rule += "; what is in no package itself imports by `from name import ...`."
        raise InvalidArgument("TARGET", text, rule) from None
    finally:
        if known is not None and known not in LOADED:
            sys.modules[name] = known  # not ours to replace
    LOADED.add(module)
    return module


def _displaced(start: Path) -> Iterator[tuple[str, Path]]:
    """Yield the modules that lie beside a file and are loaded from elsewhere, if it imports any."""
    place = imported_as(start)
    package = _file_of(sys.modules.get(place.package))
    if package is not None and place.above is not None and package.parents[1] != place.above:
        yield place.package, package
    pending, seen = [start], {start}
    while pending:
        path = pending.pop()
        for name in _imported(_text(path)):
            below = path.parent / name
            own = next(
                (it for it in (below / "__init__.py", below.with_suffix(".py")) if it.is_file()),
                None,
            )
            if own is None or own in seen:
                continue
            seen.add(own)
            pending.append(own)
            other = _file_of(sys.modules.get(name))
            if other is not None and other != own.resolve():
                yield name, other


def parse(path: Path) -> None:
    """Parse a file and the modules beside it without running them: a fork of this need not."""
    list(_displaced(path.resolve()))


def _text(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # importing it says what is wrong


@lru_cache(maxsize=64)
def _imported(text: bytes) -> set[str]:
    """Return the top-level modules that a file of this text imports; "" is its own package."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    plain = {it.name for node in nodes if isinstance(node, ast.Import) for it in node.names}
    plain |= {"" if it.level else str(it.module) for it in nodes if isinstance(it, ast.ImportFrom)}
    return {name.partition(".")[0] for name in plain}


def _file_of(module: ModuleType | None) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) else None


def _load_module(text: str, place: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if Path(place).is_file():
        raise InvalidArgument("TARGET", text, f"names {place}, which is no file.py.")
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise InvalidArgument("TARGET", text, f"cannot be imported: {said(error)}") from None


def said(error: BaseException) -> str:
    """Return an error of foreign code in one line, also where its own text fails."""
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = ""
    kind = type(error).__name__
    return f"{kind}: {text[:LONGEST_LINE]}" if text else f"{kind}."


class NotDeclared(InvalidArgument):
    """A target is no `Algorithm`, nor gives one."""


def _not_an_algorithm(text: str, found: Any) -> NotDeclared:
    kind = found.__name__ if inspect.isclass(found) else type(found).__name__
    rule = f"is a {kind}, not an Algorithm; code as it stands is for `check`, `audit`, `explain`."
    return NotDeclared("TARGET", text, rule)
