"""The cache of compiled code: a change in any of its files must be noticed."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

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
