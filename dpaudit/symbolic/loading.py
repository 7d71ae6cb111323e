"""Load judged code so that it meets symbols: substituted builtins, stand-ins, poisoned modules.

The target's file and the modules beside it are executed from their unedited text. numpy, math,
random, numba, scipy.stats' draws and functools' caches are stood in for; a few modules of pure
Python
data structures are real; every other module can be imported and named, and ends in silence when it
is used.
"""

from __future__ import annotations

import functools
import importlib.util
import random as python_random
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from dpaudit import noise
from dpaudit.errors import InvalidArgument
from dpaudit.sample.guard import integer_bits
from dpaudit.symbolic import identity
from dpaudit.symbolic.allowed import DRAWS, PYTHON_DRAWS, REAL
from dpaudit.symbolic.catching import Catching
from dpaudit.symbolic.chance import Source
from dpaudit.symbolic.exact_noise import fractions_module, noise_module
from dpaudit.symbolic.files import called, code_of, hidden, runs_other_code, shadowed, upward
from dpaudit.symbolic.identity import same
from dpaudit.symbolic.numeric import SUMMARY, Summaries
from dpaudit.symbolic.numpy_stand_in import Quiet, numpy_module
from dpaudit.symbolic.other_modules import FrozenLaw, logging_module, memo_free, warnings_module
from dpaudit.symbolic.poison import Poison, PoisonModule, StandIn
from dpaudit.symbolic.probes import Compiled, Probes
from dpaudit.symbolic.python_chance import PythonSource
from dpaudit.symbolic.run import CodeLine, Escape, current, running
from dpaudit.symbolic.stand_ins import (
    answered,
    math_functions,
    real_base,
    substituted,
)
from dpaudit.symbolic.texts import shown
from dpaudit.symbolic.values import Tracked
from dpaudit.symbolic.writing import Writing
from dpaudit.target import ImportedAs, said

MARKING = ("dataclass", "abstractmethod", "final", "override", "runtime_checkable")


@dataclass
class Loader:
    """The modules of one loading of the judged code."""

    folder: Path
    root: Path | None = None
    place: ImportedAs = ImportedAs("")
    """How the target's file is imported."""
    generator: Callable[[str], Any] | None = None
    """In a guarded run: returns the next real generator in place of an unseeded one."""
    legacy: Any = None
    python: Any = None
    scipy: Any = None
    """The generator behind scipy's laws, where it is not numpy's older one."""
    modules: dict[str, ModuleType] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    own: list[ModuleType] = field(default_factory=list)
    rebinding: bool = False
    """Whether some function of it binds global names."""
    compiled: bool = False
    """Whether numba compiles some of it."""
    probes: Probes | None = None
    calls: dict[str, Any] = field(default_factory=dict)
    """What the probes of its files call."""
    probed: set[str] | None = None
    """The files whose values are looked at; none: blocks alone, of every file."""
    failed: set[str] = field(default_factory=set)
    """The files whose import has failed, which Python would run again."""
    sealed: bool = False
    """Whether all its files are loaded: what is loaded later is looked at by nobody."""

    def __post_init__(self) -> None:
        self._bits: Any = None
        self.summaries = Summaries()
        self.writing = writing = Writing()
        self.called = functools.partial(called, self.place.above, self.root, self.folder)
        catching = Catching(writing.modules, (Quiet,))
        self.builtins = substituted(self.imported, writing) | {
            identity.ANSWERED: functools.partial(answered, writing),
            identity.ASKING: writing.asked,
            identity.SAME: same,
            identity.ORDERED: identity.ordered,
            identity.SHOWN: shown,
            identity.OWNED: writing.owned,
            identity.ELEMENT: writing.container,
            identity.BASE: real_base,
            identity.CAUGHT: catching.caught,
            identity.ENTERED: catching.entered,
            identity.LEFT: catching.left,
            identity.CONTEXT: catching.context,
        }
        self.builtins |= {SUMMARY: self.summaries} | self.calls
        writing.builtins = self.builtins
        self.global_source = Source(False, self.legacy, "RandomState")
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
        same = self.left_alone
        vars(numba).update({"njit": same, "jit": same, "vectorize": same, "prange": range})
        functions = StandIn("functools")
        kept = ("partial", "reduce", "cmp_to_key", "cached_property")
        vars(functions).update({name: getattr(functools, name) for name in kept})
        ordering = self.writing.marking(functools.total_ordering)
        wraps = lambda *given, **named: self.writing.wraps(*given, **named)  # noqa: E731
        cached = lambda *given, **named: self.cached(*given, **named)  # noqa: E731
        vars(functions).update({"wraps": wraps, "total_ordering": ordering})
        vars(functions).update({"lru_cache": cached, "cache": cached})
        self.modules |= {
            "numpy": numpy,
            "numpy.random": chance,
            "random": plain,
            "math": mathematics,
            "numba": numba,
            "functools": functions,
            "warnings": warnings_module(),
            "fractions": fractions_module(),
            "dpaudit.noise": noise_module(self.integer_bits),
            "logging": logging_module(),
        }
        self._scipy()

    def left_alone(self, *given: Any, **_: Any) -> Any:
        """Stand in for a decorator that compiles: what is judged is the function itself."""
        self.compiled = True
        return given[0] if given and callable(given[0]) else (lambda function: function)

    def integer_bits(self) -> Any:
        """Return the bits of `dpaudit.noise` in a guarded run."""
        if self._bits is None:
            self._bits = integer_bits(self.generator.seed)  # type: ignore[union-attr]
        return self._bits

    def _scipy(self) -> None:
        stats, scipy = StandIn("scipy.stats"), StandIn("scipy")
        source = self.global_source
        if self.scipy is not None:
            source = Source(False, self.scipy, "RandomState")
        for name, law in (("laplace", "laplace"), ("norm", "normal"), ("uniform", "uniform")):
            vars(stats)[name] = FrozenLaw(source, law)
        vars(scipy)["stats"] = stats
        vars(scipy)["special"] = PoisonModule("scipy.special")
        vars(scipy)["optimize"] = PoisonModule("scipy.optimize")
        self.modules |= {"scipy": scipy, "scipy.stats": stats}

    def cached(self, function: Any = None, *given: Any, **named: Any) -> Any:
        """Stand in for `functools.cache`."""
        if self.rebinding:
            raise current().escape("a cached function in code that binds global names")
        return memo_free(function, *given, **named)

    def source(self, kind: str, seed: Any) -> Any:
        """Stand in for `default_rng`, `RandomState` and `random.Random`."""
        if isinstance(seed, Source) and kind == "default_rng" and seed.kind == "Generator":
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
        if seed is not None and not isinstance(seed, int | np.integer):
            raise current().escape(f"{kind} of a {type(seed).__name__}")
        if kind == "Random":
            return PythonSource(seed is not None, real)
        return Source(seed is not None, real, "Generator" if kind == "default_rng" else kind)

    def imported(
        self, name: str, scope: Any = None, local: Any = None, parts: Any = (), level: int = 0
    ) -> Any:
        """Stand in for `__import__`."""
        if level:
            base = self._inside(scope, level)
            if name:
                self._package(base)
            module = self._beside(base, name) if name else self._package(base)
            inside = base.joinpath(*name.split(".")) if name else base
            self._parts(module, parts, lambda part: self._beside(inside, part))
            return module
        module = self._module(name)
        if not parts and "." in name:
            top = self._module(name.partition(".")[0])
            place = top
            for piece, upto in upward(name):
                inner = self._module(upto)
                if isinstance(place, StandIn) and piece not in vars(place):
                    vars(place)[piece] = inner
                place = inner
            return top
        self._parts(module, parts, lambda part: self._found(f"{name}.{part}"))
        return module

    def _inside(self, scope: Any, level: int) -> Path:
        """Return the folder that a relative import starts from, which is the module's package."""
        file = Path(scope["__file__"])
        own = self.modules.get(str(file))
        name = own.__name__ if own is not None and vars(own) is scope else ""
        package = name if file.stem == "__init__" else name.rpartition(".")[0]
        told = any(scope.get(it) is not None for it in ("__package__", "__spec__", "__path__"))
        upwards = package.split(".")[: 1 - level or None]
        if told or not package or package != self.called(file.parent) or not upwards:
            raise current().escape("a relative import outside of a package", "use a package")
        return file.parents[level - 1]

    def _parts(
        self, module: ModuleType, parts: Any, found: Callable[[str], ModuleType | None]
    ) -> None:
        """Import what a module is asked for and does not hold, as Python does; it binds itself."""
        every = list(parts or ())
        stands = isinstance(module, StandIn | PoisonModule)
        if "*" in every and stands:
            raise current().escape(f"an import of all names of {module.__name__}", "name them")
        if "*" in every:
            every = list(vars(module).get("__all__", ()))
        for part in every:
            if part in vars(module) if stands else hasattr(module, part):
                continue
            whole = f"{module.__name__}.{part}"
            known = self.modules.get(whole)
            if stands:
                if isinstance(module, StandIn) and (below := known or found(part)) is not None:
                    vars(module)[part] = below
            elif known is None or isinstance(known, PoisonModule):
                below = known or found(part)
                if isinstance(below, PoisonModule):
                    vars(module)[part] = below
            elif self.root is not None and Path(vars(known)["__file__"]).is_relative_to(self.root):
                vars(module)[part] = known  # of dpaudit, whose packages are not run first
            elif sys.modules.get(whole) is not known:  # else Python finds it, half executed
                raise current().escape(f"an import of {whole}, whose name was taken away")

    def _module(self, name: str) -> ModuleType:
        if name == noise.__name__ and shadowed(self.folder, self.root):
            raise current().escape("a dpaudit of its own beside the code", "give it another name")
        known = self.modules.get(name)
        stands = name in REAL or isinstance(known, StandIn)
        if stands and hidden(name.partition(".")[0], self.folder, self.place.above):
            raise current().escape(f"a {name} of its own beside the code", "give it another name")
        if known is not None:
            return known
        if name in REAL:
            return self._real(name)
        found = self._found(name)
        if found is None:
            found = self.modules[name] = PoisonModule(name)
        return found

    def _real(self, name: str) -> ModuleType:
        """Return a module of Python with the names that judged code may use."""
        real = importlib.import_module(name)
        found: dict[str, Any] = {
            it: Poison(f"{name}.{it}")
            for it, value in vars(real).items()
            if not it.startswith("_") and not isinstance(value, ModuleType)
        }
        found |= {it: getattr(real, it) for it in REAL[name].split() if hasattr(real, it)}
        for decorator in MARKING:
            if decorator in found:
                found[decorator] = self.writing.marking(found[decorator])
        self.modules[name] = module = StandIn(name)
        vars(module).update(found)
        return module

    def _found(self, name: str) -> ModuleType | None:
        """Return a module that lies beside the target, or in the part of dpaudit that is judged."""
        own = self.place.package and name.partition(".")[0] == self.place.package
        for base in (self.folder, self.place.above if own else None, self.root):
            if base is None:
                continue
            if base is self.root and name == "dpaudit":
                return self.modules.setdefault(name, StandIn(name))  # its surface is not judged
            uppers = [name.partition(".")[0], *(upto for _, upto in upward(name))][:-1]
            for upto in uppers if base is not self.root else ():
                self._file(base, upto, upto)  # as Python does: packages before what is in them
            found = self._file(base, name, name)
            if found is not None:
                return found
        return None

    def _file(self, base: Path, name: str, called: str) -> ModuleType | None:
        """Return a module of a folder by its name there, `called` as Python would call it."""
        path = base.joinpath(*name.split("."))
        for file in (path / "__init__.py", path.with_name(path.name + ".py")):
            if file.is_file():
                return self.load(file, called)
        return None

    def _beside(self, base: Path, name: str) -> ModuleType:
        whole = f"{self.called(base)}.{name}"
        return self._file(base, name, whole) or self.modules.setdefault(whole, PoisonModule(whole))

    def _package(self, base: Path) -> ModuleType:
        file, name = base / "__init__.py", self.called(base)
        found = self.load(file, name) if file.is_file() else PoisonModule(name)
        return self.modules.setdefault(name, found)

    def load(self, file: Path, name: str) -> ModuleType:
        """Execute a file as a module that meets symbols."""
        path = str(file.absolute())
        if path in self.modules:
            if self.modules[path].__name__ != name:
                why = "Python makes two modules of it"
                raise current().escape(f"an import of {file.name} by a second name", why)
            return self.modules[path]
        if self.sealed:
            raise current().escape(
                f"an import of {file.name} while the policy runs", "import it at the top"
            )
        if name in sys.stdlib_module_names or name in REAL or name in self.modules:
            raise current().escape(f"the file {file.name}, named like a module of Python")
        module = ModuleType(name)
        self.modules[path] = self.modules[name] = module
        self.writing.modules.add(name)
        self.files.add(path)
        vars(module).update({"__file__": path, "__builtins__": self.builtins, "__name__": name})
        if running():
            current().files = frozenset(self.files)
        known = sys.modules.get(name)
        sys.modules[name] = module  # dataclasses looks its module up by name
        try:
            text = self._compiled(file, path)
            self.summaries.add(path, text.numeric)
            self.rebinding = self.rebinding or text.rebinding
            exec(text.code, vars(module))
            above, _, own = name.rpartition(".")
            if above in self.modules:  # as Python binds what it has executed, whatever was there
                vars(self.modules[above])[own] = module
        except Escape as stop:
            if running() and current().escaped is None:
                current().escaped = stop  # the code may have caught it
            raise
        except Exception:
            self.failed.add(file.name)
            del self.modules[path], self.modules[name]
            raise
        finally:
            if known is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = known
        self.own.append(module)
        return module

    def _compiled(self, file: Path, path: str) -> Compiled:
        """Return the code of a file, with its probes and with what looks at questions."""
        if self.probes is not None and path in self.probes.read:
            return self.probes.read[path]
        probes = self.probes
        probing = None
        if probes is not None and (self.probed is None or path in self.probed):
            probing = probes.open, self.probed is not None
        text = file.read_bytes()
        if runs_other_code(file, text):
            raise current().escape(f"bytecode beside {file.name} that is not of its text")
        found, inserted = code_of(text, path, probing)
        if probes is not None:
            probes.places |= inserted.places
            probes.decorated |= inserted.decorated
            probes.read[path] = found
        return found

    def target(self, file: Path, name: str, text: str) -> Any:
        """Return the object of the target's file."""
        try:
            if self.place.above is not None:
                for folder in reversed(list(file.parents)[: self.place.name.count(".")]):
                    self._package(folder)
            module = self.load(file, self.place.name or file.stem)
        except SyntaxError as error:
            raise InvalidArgument("TARGET", text, f"cannot be imported: {said(error)}") from None
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [it.lineno or 0 for it in frames if it.filename in self.files]
            place = CodeLine(str(file), lines[-1] if lines else 0)
            raise Escape(f"{said(error)} while it is imported on symbols", "", place) from None
        if self.failed:
            raise current().escape(f"an import of {min(self.failed)} that fails, and goes on")
        self.sealed = True
        return vars(module)[name]
