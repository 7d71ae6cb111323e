"""Files as Python finds and runs them: text, bytecode, and names that hide a module of Python."""

from __future__ import annotations

import ast
import functools
import importlib.util
import marshal
from contextlib import suppress
from pathlib import Path

from dpaudit import noise
from dpaudit.symbolic.identity import Guarded
from dpaudit.symbolic.numeric import numeric_functions
from dpaudit.symbolic.probes import Compiled, Probes
from dpaudit.symbolic.refused import require_plain


@functools.lru_cache(maxsize=256)
def code_of(text: bytes, path: str, probing: tuple[bool, bool] | None) -> tuple[Compiled, Probes]:
    """Return the code of a text and its probes; `probing`: open functions get them, and values."""
    tree = ast.parse(text, path)
    nodes = list(ast.walk(tree))
    require_plain(nodes, path)
    numeric = numeric_functions(nodes)
    rebinding = any(isinstance(node, ast.Global) for node in nodes)
    probes = Probes()
    if probing is not None:
        probes.open, values = probing
        tree = probes.inserted(tree, path, values)
    tree = Guarded(path).visit(tree)
    for it in numeric.values():
        it.rewrite()
    code = compile(tree, path, "exec", dont_inherit=True)
    return Compiled(code, rebinding, numeric), probes


def runs_other_code(file: Path, text: bytes) -> bool:
    """Tell whether Python would run bytecode beside a file that its text does not give."""
    with suppress(OSError, ValueError, EOFError, TypeError):
        data = Path(importlib.util.cache_from_source(str(file))).read_bytes()
        flags, stamp, size = (int.from_bytes(data[i : i + 4], "little") for i in (4, 8, 12))
        seen = file.stat()
        when = (int(seen.st_mtime) & 0xFFFFFFFF, seen.st_size & 0xFFFFFFFF)
        used = flags == 1 or (flags == 0 and (stamp, size) == when)
        if data[:4] == importlib.util.MAGIC_NUMBER and used:
            return bool(
                marshal.loads(data[16:]) != compile(text, str(file), "exec", dont_inherit=True)
            )
    return False


def hidden(top: str, *folders: Path | None) -> bool:
    """Tell whether something in the folders has the name of a module that is stood in for.

    dpaudit itself is not: `shadowed` looks at it.
    """
    beside = [base for base in folders if base is not None]
    found = (path for base in beside for path in (base / top, *base.glob(f"{top}.*")))
    return top != "dpaudit" and any(it.exists() for it in found)


def shadowed(*folders: Path | None) -> bool:
    """Tell whether something in the folders takes the place of dpaudit."""
    top = Path(str(noise.__file__)).resolve().parent
    return any(
        place.exists()
        for base in folders
        if base is not None and (base / "dpaudit").resolve() != top
        for place in (base / "dpaudit", base / "dpaudit.py")
    )


def called(*given: Path | None) -> str:
    """Return the name of the package in the last folder, by the first other that it lies below."""
    *folders, base = given
    assert base is not None
    for above in folders:
        if above is not None and base != above and base.is_relative_to(above):
            return ".".join(base.relative_to(above).parts)
    return base.name


def upward(name: str) -> list[tuple[str, str]]:
    """Return the later parts of a dotted name, each with all up to it."""
    parts = name.split(".")
    return [(parts[k], ".".join(parts[: k + 1])) for k in range(1, len(parts))]
