"""Boxes: whatever maps a reward stream and a seed to action sequences.

A box is all that the auditor knows of a target. `run(stream, runs, seed)` returns that many
independent runs; equal seeds give equal runs, whatever process they happen in.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.mutant import Mutant
from dpaudit.errors import InvalidArgument, UnknownName, require_integer
from dpaudit.sample.adapters import drive
from dpaudit.sample.guard import RunSeed, judged, lent_randomness, run_seeds, time_limit
from dpaudit.sample.runs import Runs
from dpaudit.sample.streams import Stream
from dpaudit.sources import file_of, sources_of
from dpaudit.target import load_file

MOST_ARMS = 2**15 - 1  # as runs store them
KEYWORDS = ("arms", "horizon", "epsilon", "rng")
SYNONYMS = dict.fromkeys(("n_arms", "nb_arms", "nbArms", "num_arms"), "arms")
SHORT = {"K": "arms", "k": "arms", "T": "horizon", "eps": "epsilon"}  # where there is no default
Seed = np.random.SeedSequence


class Box(Protocol):
    """A target that can be run."""

    @property
    def arms(self) -> int:
        """The number of arms."""

    @property
    def horizon(self) -> int:
        """The number of steps of a run."""

    def identity(self) -> dict[str, Any]:
        """What makes this target itself: plain data, equal for equal code and parameters."""

    def run(self, stream: Stream, runs: int, seed: Seed) -> Runs:
        """Return independent runs on a stream."""


@dataclass(frozen=True)
class DeclaredBox:
    """An algorithm in dpaudit's own declaration; `file` is where its class was loaded from.

    `called` is the TARGET that it was asked for by.
    """

    algorithm: Algorithm
    horizon: int
    file: str = ""
    called: str = ""

    def __post_init__(self) -> None:
        _require_few_arms(self.arms)
        require_integer("horizon", self.horizon, self.arms + 1)

    @property
    def arms(self) -> int:
        """The number of arms."""
        return self.algorithm.arms

    @property
    def name(self) -> str:
        """What people call it."""
        return self.called or self.declared

    @property
    def declared(self) -> str:
        """What names the class."""
        kind = type(self.algorithm)
        return f"{self.file or kind.__module__}:{kind.__qualname__}"

    def identity(self) -> dict[str, Any]:
        """Return the class, what it rests on, the parameters and the horizon."""
        return {
            "declared": self.declared,
            **_rests_on(self.declared, self.algorithm),
            "parameters": {key: str(value) for key, value in asdict(self.algorithm).items()},
            "horizon": self.horizon,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as data: a worker loads the file before it meets the class."""
        return _arrived, (self.file, pickle.dumps(self.algorithm), self.horizon, self.called)

    def run(self, stream: Stream, runs: int, seed: Seed) -> Runs:
        """Return runs in lockstep."""
        from dpaudit.sample.lockstep import run_many

        return run_many(self.algorithm, stream, runs, np.random.default_rng(seed))


def _rests_on(text: str, source: Any) -> dict[str, Any]:
    file = file_of(text, source)
    found = sources_of(text, source, file.parent if file else Path.cwd())
    return {"sources": found.files, "packages": found.packages}


def _require_few_arms(arms: int) -> None:
    if arms > MOST_ARMS:
        raise InvalidArgument("arms", arms, f"must be at most {MOST_ARMS:,}.")


def _arrived(file: str, algorithm: bytes, horizon: int, called: str) -> DeclaredBox:
    if file:
        _load_file(file)
    return DeclaredBox(pickle.loads(algorithm), horizon, file, called)


@dataclass(frozen=True)
class PolicyBox:
    """Foreign code: `build(rng)` returns a fresh policy (see `adapters`) for every run.

    `target` is the object that is judged.
    """

    name: str
    build: Callable[[np.random.Generator], Any]
    arms: int
    horizon: int
    limit: float = 60.0
    target: Any = None

    def __post_init__(self) -> None:
        require_integer("arms", self.arms, 2)
        _require_few_arms(self.arms)
        require_integer("horizon", self.horizon, 2)

    def identity(self) -> dict[str, Any]:
        """Return the name, what it rests on, and the sizes."""
        build = self.build
        text = f"{build.path}:{build.name}" if isinstance(build, FileBuilder) else self.name
        return {
            "policy": self.name,
            **_rests_on(text, self.target),
            "arms": self.arms,
            "horizon": self.horizon,
        }

    def run(self, stream: Stream, runs: int, seed: Seed) -> Runs:
        """Return runs one by one, each with a generator of its own."""
        rewards = stream.array()
        return Runs.of_actions(self.run_each([(rewards, it) for it in run_seeds(seed, runs)]))

    def run_each(self, work: Sequence[tuple[Any, RunSeed]]) -> NDArray[np.int16]:
        """Return the actions of runs (rewards, seed) that are made in this order.

        Each has a generator and global random states of its own, fixed by its seed.
        """
        actions = np.zeros((len(work), self.horizon), dtype=np.int16)
        with (
            lent_randomness(0) as lend,
            time_limit(self.limit, self.name) as start,
            judged(self.name),
        ):
            for row, (rewards, seed) in zip(actions, work, strict=True):
                lend(seed.lent)
                start()
                rng = np.random.Generator(np.random.PCG64(seed))
                row[:] = drive(self.build(rng), rewards, self.arms, rng, self.name)
        return actions


@dataclass(frozen=True)
class FileBuilder:
    """Builds policies from `file.py:object`, with the keywords that the object accepts.

    It is sent to worker processes as a path and a name and imports the file there.
    """

    path: str
    name: str
    arms: int
    horizon: int
    epsilon: float
    cached: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "cached": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def is_below(self, folder: Path) -> bool:
        """Tell whether the file lies in a folder."""
        return Path(self.path).resolve().is_relative_to(folder)

    def load(self) -> None:
        """Import the file, once."""
        if "target" not in self.cached:
            target = load_object(self.path, self.name)
            self.cached["target"] = target
            self.cached["accepted"] = accepted(target)

    def __call__(self, rng: np.random.Generator) -> Any:
        """Return a fresh policy."""
        self.load()
        target, names = self.cached["target"], self.cached["accepted"]
        if names is None:
            return target
        values = {
            "arms": self.arms,
            "horizon": self.horizon,
            "epsilon": self.epsilon,
            "rng": rng,
        }
        return target(**{name: values[word] for name, word in names.items()})


def accepted(target: Any) -> dict[str, str] | None:
    """Return the parameters that an object is given, each with the keyword whose value it gets.

    None if the object is itself (stream, rng) -> actions.
    """
    everything = {name: name for name in KEYWORDS}
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return everything
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return everything
    given, foreign = {}, []
    for it in parameters:
        required = it.default is it.empty and it.kind is not it.VAR_POSITIONAL
        keyword = everything.get(it.name) or SYNONYMS.get(it.name)
        if keyword is None and required:
            keyword = SHORT.get(it.name)
        if keyword is not None:
            given[it.name] = keyword
        elif required:
            foreign.append(it.name)
    if not foreign:
        return given
    if len(foreign) == 1 and not isinstance(target, type):
        return None
    raise InvalidArgument(
        "object",
        getattr(target, "__name__", target),
        f"needs {', '.join(foreign)}; only {', '.join(KEYWORDS)} are given: name it so, or give it "
        "a default.",
    )


@lru_cache(maxsize=32)
def _load_module(path: str, digest: str) -> Any:
    return load_file(Path(path).absolute(), path)


def read_source(path: str) -> str:
    """Return the text of a target's file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise InvalidArgument("target", path, f"cannot be read: {reason}.") from None


def _load_file(path: str) -> Any:
    digest = hashlib.sha256(f"{path}\0{read_source(path)}".encode()).hexdigest()
    return _load_module(path, digest)


def load_object(path: str, name: str) -> Any:
    """Return an object of a Python file."""
    module = _load_file(path)
    if not hasattr(module, name):
        known = [item for item in vars(module) if not item.startswith("_")]
        raise UnknownName(f"object in {path}", name, known or ["(nothing)"])
    return getattr(module, name)


def file_box(target: str, arms: int, horizon: int, epsilon: float, limit: float) -> PolicyBox:
    """Return the box of `file.py:object`."""
    path, separator, name = target.rpartition(":")
    if not separator or not path or not name:
        raise InvalidArgument("target", target, "must be an algorithm's name or file.py:object.")
    builder = FileBuilder(str(Path(path)), name, arms, horizon, epsilon)
    accepted(load_object(builder.path, name))
    return PolicyBox(target, builder, arms, horizon, limit)


def mutant_box(
    mutant: Mutant, arms: int, horizon: int, epsilon: float, limit: float = 60.0
) -> PolicyBox:
    """Return the box of a mutant that is handwritten code."""
    target = f"{mutant.file}:{mutant.source.__name__}"
    return replace(file_box(target, arms, horizon, epsilon, limit), name=mutant.target)
