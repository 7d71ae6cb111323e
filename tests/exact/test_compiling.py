"""The cache of compiled code: a change in any of its files must be noticed."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import numpy as np
from numba.core.registry import CPUDispatcher

import dpaudit
from dpaudit.exact import compiling


def compiled_functions() -> list[CPUDispatcher]:
    """Every compiled function of the core and of the exact engine, whoever imports it."""
    found = {}
    for package in ("core", "exact"):
        folder = str(Path(dpaudit.__file__).parent / package)
        for module in pkgutil.iter_modules([folder], f"dpaudit.{package}."):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, CPUDispatcher):
                    found[value.py_func] = value
    return list(found.values())


def test_every_compiled_function_comes_from_a_stamped_file() -> None:
    stamped = compiling.compiled_files()
    sources = {Path(function.py_func.__code__.co_filename) for function in compiled_functions()}
    assert len(sources) > 5
    assert sources <= set(stamped)


def test_constants_of_the_compiled_engine_come_from_stamped_files() -> None:
    """Compiled code holds the numbers that it was made with."""
    stamped = compiling.compiled_files()
    checked = set()
    for file in stamped:
        if file.parent.name != "exact":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith("dpaudit."):
                continue
            module = importlib.import_module(str(node.module))
            for name in (alias.name for alias in node.names):
                if isinstance(getattr(module, name), int | float | np.ndarray):
                    assert Path(str(module.__file__)) in stamped, f"{file.name} reads {name}"
                    checked.add(name)
    assert checked >= {"NODES", "MOST", "KL"}


def test_numba_caches_the_engine_in_the_stamped_folder() -> None:
    """Numba's cache directory is read when a function is made; if that changes, this fails."""
    engine = [it for it in compiled_functions() if it.__module__.startswith("dpaudit.exact.")]
    engine = [it for it in engine if it.__module__ != compiling.__name__]
    assert len(engine) > 20
    for function in engine:
        assert compiling.CACHE in Path(function.stats.cache_path).parents, function.__name__


def test_a_change_in_any_file_names_another_folder(tmp_path: Path) -> None:
    files = []
    for source in compiling.compiled_files():
        files.append(tmp_path / f"{len(files)}.py")
        files[-1].write_bytes(source.read_bytes())
    before = compiling.digest(files)
    assert compiling.CACHE.name.endswith(before)
    for file in files:
        text = file.read_bytes()
        file.write_bytes(text + b"\n")
        assert compiling.digest(files) != before
        file.write_bytes(text)
    assert compiling.digest(files) == before
