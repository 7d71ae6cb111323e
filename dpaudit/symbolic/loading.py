"""Load judged code so that it meets symbols: substituted builtins, stand-ins, poisoned modules.

The target's file and the modules beside it are executed from their unedited text. numpy, math,
random, numba, scipy.stats' draws and functools' caches are stood in for; a few modules of pure
Python
data structures are real; every other module can be imported and named, and ends in silence when it
is used.
"""

from __future__ import annotations

import ast
import functools
import importlib
import random as python_random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from dpaudit.errors import InvalidArgument
from dpaudit.symbolic.chance import PythonSource, Source
from dpaudit.symbolic.identity import NAME, OWNER, SAME, SHOWN, Guarded, same, shown
from dpaudit.symbolic.numpy_stand_in import StandIn, numpy_module
from dpaudit.symbolic.run import Escape, Place, current, running
from dpaudit.symbolic.stand_ins import (
    ATTRIBUTES,
    HIDDEN,
    described,
    math_functions,
    owner,
    substituted,
)
from dpaudit.symbolic.values import Tracked
from dpaudit.target import said

REAL = frozenset(
    [
        "__future__",
        "typing",
        "typing_extensions",
        "dataclasses",
        "collections",
        "collections.abc",
        "enum",
        "abc",
        "operator",
        "itertools",
        "copy",
        "heapq",
        "bisect",
        "string",
        "numbers",
        "warnings",
        "types",
        "textwrap",
        "numpy.typing",
        "contextlib",
    ]
)
DRAWS = [
    "laplace",
    "normal",
    "uniform",
    "random",
    "exponential",
    "gumbel",
    "logistic",
    "beta",
    "gamma",
    "binomial",
    "integers",
    "choice",
    "permutation",
    "shuffle",
    "standard_normal",
    "random_sample",
    "rand",
    "randn",
    "randint",
    "seed",
]
PYTHON_DRAWS = [
    "random",
    "uniform",
    "gauss",
    "normalvariate",
    "expovariate",
    "betavariate",
    "choice",
    "choices",
    "randrange",
    "randint",
]
UNTOLD = ("builtins", "globals", "subclasses")


class Poison:
    """A name of a module that is not followed; using it ends in silence."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def _used(self, *_: Any, **__: Any) -> Any:
        if not running():
            raise Escape(f"the use of {self._name}")
        raise current().escape(
            f"the use of {self._name}", "what it does cannot be followed; keep it out of the policy"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Poison(f"{self._name}.{name}")

    __call__ = __getitem__ = __iter__ = __enter__ = __mro_entries__ = __add__ = __bool__ = _used
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __len__ = __mul__ = __truediv__ = _used
    __radd__ = __rmul__ = __sub__ = __rsub__ = __float__ = __int__ = __index__ = __contains__ = (
        _used
    )
    __hash__ = object.__hash__
    __repr__ = _used


class PoisonModule(ModuleType):
    """A module that can be imported and named."""

    def __setattr__(self, name: str, value: Any) -> None:
        raise current().escape(f"an assignment to {self.__name__}.{name}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Poison(f"{self.__name__}.{name}")


def public(module: ModuleType) -> dict[str, Any]:
    """Return the public names of a real module, without those that reach around what is
    followed."""
    hidden = (
        "attrgetter",
        "methodcaller",
        "is_",
        "is_not",
        "Formatter",
        "get_type_hints",
        "FunctionType",
        "CodeType",
        "CellType",
    )
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and name not in hidden and not isinstance(value, ModuleType)
    }


def memo_free(function: Any = None, *_: Any, **__: Any) -> Any:
    """Stand in for `functools.cache`: no cache, and a check that none could be noticed."""
    if not callable(function):
        return memo_free

    def call(*given: Any, **named: Any) -> Any:
        run = current()
        before = run.next_symbol, len(run.trace)
        found = function(*given, **named)
        if isinstance(found, Tracked) or before != (run.next_symbol, len(run.trace)):
            raise run.escape(
                "a cached function that draws or depends on rewards", "do not cache noise"
            )
        return found

    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call


@dataclass
class Loader:
    """The modules of one loading of the judged code."""

    folder: Path
    root: Path | None = None
    generator: Callable[[str], Any] | None = None
    """In a guarded run: returns the next real generator in place of an unseeded one."""
    legacy: Any = None
    python: Any = None
    modules: dict[str, ModuleType] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    own: list[ModuleType] = field(default_factory=list)
    catching: bool = False
    """Whether some file of it catches exceptions."""

    def __post_init__(self) -> None:
        self.builtins = substituted(self.imported) | {
            NAME: described,
            SAME: same,
            SHOWN: shown,
            OWNER: owner,
        }
        self.global_source = Source(False, self.legacy)
        self._stand_in()

    def _stand_in(self) -> None:
        chance = StandIn("numpy.random")
        vars(chance).update({name: getattr(self.global_source, name) for name in DRAWS})
        vars(chance).update(
            {
                "default_rng": lambda seed=None: self.source("default_rng", seed),
                "RandomState": lambda seed=None: self.source("RandomState", seed),
                "Generator": Source,
                "SeedSequence": Poison("numpy.random.SeedSequence"),
                "PCG64": Poison("numpy.random.PCG64"),
            }
        )
        numpy = numpy_module(chance)
        python = PythonSource(False, self.python)
        plain = StandIn("random")
        vars(plain).update({name: getattr(python, name) for name in PYTHON_DRAWS})
        vars(plain).update(
            {"seed": python.seed, "Random": lambda seed=None: self.source("Random", seed)}
        )
        mathematics = StandIn("math")
        vars(mathematics).update(math_functions())
        numba = StandIn("numba")
        same = lambda *given, **_: given[0] if given and callable(given[0]) else (lambda f: f)  # noqa: E731
        vars(numba).update({"njit": same, "jit": same, "vectorize": same, "prange": range})
        functions = StandIn("functools")
        kept = ("partial", "wraps", "reduce", "cmp_to_key", "total_ordering", "cached_property")
        vars(functions).update({name: getattr(functools, name) for name in kept})
        vars(functions).update({"lru_cache": memo_free, "cache": memo_free})
        self.modules |= {
            "numpy": numpy,
            "numpy.random": chance,
            "random": plain,
            "math": mathematics,
            "numba": numba,
            "functools": functions,
            "warnings": _warnings(),
        }
        self._scipy()

    def _scipy(self) -> None:
        stats, scipy = StandIn("scipy.stats"), StandIn("scipy")
        for name, law in (("laplace", "laplace"), ("norm", "normal"), ("uniform", "uniform")):
            vars(stats)[name] = _Frozen(self.global_source, law)
        vars(scipy)["stats"] = stats
        vars(scipy)["special"] = PoisonModule("scipy.special")
        vars(scipy)["optimize"] = PoisonModule("scipy.optimize")
        self.modules |= {"scipy": scipy, "scipy.stats": stats}

    def source(self, kind: str, seed: Any) -> Any:
        """Stand in for `default_rng`, `RandomState` and `random.Random`."""
        if isinstance(seed, Source):
            return seed
        if isinstance(seed, Tracked):
            raise current().escape(
                "a generator seeded with a value that depends on rewards or noise"
            )
        real = None
        if self.generator is not None:
            made = {
                "default_rng": np.random.default_rng,
                "RandomState": np.random.RandomState,
                "Random": python_random.Random,
            }
            real = self.generator(kind) if seed is None else made[kind](seed)
        return (PythonSource if kind == "Random" else Source)(seed is not None, real)

    # -- importing ------------------------------------------------------------------------------

    def imported(
        self, name: str, scope: Any = None, local: Any = None, parts: Any = (), level: int = 0
    ) -> Any:
        """Stand in for `__import__`."""
        if level:
            base = Path(scope["__file__"]).parent
            for _ in range(level - 1):
                base = base.parent
            module = self._beside(base, name) if name else self._package(base)
            if not name:
                for part in parts or ():
                    if not hasattr(module, part):
                        vars(module)[part] = self._beside(base, part)
            return module
        module = self._module(name)
        if not parts and "." in name:
            top = self._module(name.partition(".")[0])
            place = top
            for piece, upto in _upward(name):
                inner = self._module(upto)
                if not isinstance(place, PoisonModule) and piece not in vars(place):
                    vars(place)[piece] = inner
                place = inner
            return top
        for part in parts or ():
            if isinstance(module, ModuleType) and part != "*" and part not in vars(module):
                below = self.modules.get(f"{name}.{part}") or self._found(f"{name}.{part}")
                if below is not None:
                    vars(module)[part] = below
        return module

    def _module(self, name: str) -> ModuleType:
        if name in self.modules:
            return self.modules[name]
        if name in REAL:
            self.modules[name] = real = StandIn(name)
            vars(real).update(public(importlib.import_module(name)))
            return real
        found = self._found(name)
        if found is None:
            found = PoisonModule(name)
            self.modules[name] = found
        return found

    def _found(self, name: str) -> ModuleType | None:
        """Return a module that lies beside the target, or in the part of dpaudit that is judged."""
        for base in (self.folder, self.root):
            if base is None:
                continue
            path = base.joinpath(*name.split("."))
            for file in (path.with_name(path.name + ".py"), path / "__init__.py"):
                if file.is_file():
                    return self.load(file, name)
        return None

    def _beside(self, base: Path, name: str) -> ModuleType:
        path = base.joinpath(*name.split("."))
        for file in (path.with_name(path.name + ".py"), path / "__init__.py"):
            if file.is_file():
                return self.load(file, f"{base.name}.{name}")
        return PoisonModule(name)

    def _package(self, base: Path) -> ModuleType:
        file = base / "__init__.py"
        return self.load(file, base.name) if file.is_file() else PoisonModule(base.name)

    def load(self, file: Path, name: str) -> ModuleType:
        """Execute a file as a module that meets symbols."""
        path = str(file.absolute())
        if path in self.modules:
            return self.modules[path]
        module = ModuleType(name)
        self.modules[path] = self.modules[name] = module
        self.files.add(path)
        text = file.read_bytes()
        tree = ast.parse(text, path)
        _require_plain(tree, path)
        self.catching = self.catching or any(
            isinstance(node, ast.Try | ast.TryStar)
            or getattr(node, "name", "") == "__exit__"
            or "suppress" in (getattr(node, "id", ""), getattr(node, "attr", ""))
            for node in ast.walk(tree)
        )
        vars(module).update({"__file__": path, "__builtins__": self.builtins, "__name__": name})
        if running():
            current().files = frozenset(self.files)
        known = sys.modules.get(name)
        sys.modules[name] = module  # dataclasses looks its module up by name
        try:
            exec(compile(Guarded(path).visit(tree), path, "exec"), vars(module))
        finally:
            if known is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = known
        self.own.append(module)
        return module

    def target(self, file: Path, name: str, text: str) -> Any:
        """Return the object of the target's file."""
        try:
            module = self.load(file, file.stem)
        except Exception as error:
            raise InvalidArgument("TARGET", text, f"cannot be imported: {said(error)}") from None
        return vars(module)[name]


def _warnings() -> ModuleType:
    def ask(action: str = "", *_: Any, **__: Any) -> None:
        if action == "error":
            raise current().escape("warnings that become errors")

    module = StandIn("warnings")
    quiet = {"warn": lambda *_, **__: None, "filterwarnings": ask, "simplefilter": ask}
    vars(module).update(quiet)
    return module


class _Frozen:
    """A law of scipy.stats: its draws."""

    __slots__ = ("source", "kind")

    def __init__(self, source: Source, kind: str) -> None:
        self.source, self.kind = source, kind

    def rvs(self, loc: Any = 0, scale: Any = 1, size: Any = None, random_state: Any = None) -> Any:
        """Return draws."""
        if current().guarded:
            raise current().escape(f"scipy.stats.{self.kind} in a guarded run")
        source = random_state if isinstance(random_state, Source) else self.source
        if random_state is not None and source is not random_state:
            source = Source(True)
        if self.kind == "uniform":
            return source.uniform(loc, loc + scale, size)
        return getattr(source, self.kind)(loc, scale, size)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise current().escape(f"scipy.stats: {self.kind}.{name}")


def _upward(name: str) -> list[tuple[str, str]]:
    parts = name.split(".")
    return [(parts[k], ".".join(parts[: k + 1])) for k in range(1, len(parts))]


def _require_plain(tree: ast.AST, path: str) -> None:
    """Refuse names that reach around what stands in for Python's own."""
    for node in ast.walk(tree):
        name = ""
        if isinstance(node, ast.ClassDef) and "type" in [getattr(b, "id", "") for b in node.bases]:
            raise Escape(
                "a metaclass", "it can make classes behave otherwise", Place(path, node.lineno)
            )
        if isinstance(node, ast.MatchClass) and HIDDEN & {*node.kwd_attrs}:
            raise Escape("a pattern that asks for attributes", "", Place(path, node.lineno))
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif isinstance(node, ast.Name):
            name = node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # a format may ask for attributes: "{0.__class__}"
            hidden = ".__" in node.value or node.value.strip("_") in UNTOLD
            name = f"__{node.value.strip('_')}__" if hidden else ""
        if name.startswith("__") and name.endswith("__") and name not in ATTRIBUTES:
            raise Escape(
                f"the name {name}",
                "it can reach around what is followed",
                Place(path, getattr(node, "lineno", 0)),
            )
