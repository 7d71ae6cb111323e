"""Probes: what a program computes, expression by expression, for comparison with its reading.

A file's syntax tree gets two kinds of calls: `AT(number)` where a block begins (a body, a side of a
conditional, a lambda, an element of a comprehension), and `OF(number, value)` around expressions.
They change nothing. The real program records with them, its reading on symbols is compared by
them, and the walk marks by the first kind alone which blocks it has followed.
"""

from __future__ import annotations

import ast
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

AT, OF = "__at__", "__of__"
CACHES = ("njit", "jit", "vectorize", "cache", "lru_cache")
VALUES = (
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.Call,
    ast.IfExp,
    ast.Attribute,
    ast.Name,
    ast.Subscript,
    ast.JoinedStr,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.Lambda,
)
CALLED = (ast.Attribute, ast.Name)
UNPROBED = frozenset(
    (
        "decorator_list",
        "bases",
        "keywords",
        "annotation",
        "returns",
        "pattern",
        "format_spec",
        "type_params",
    )
)


@dataclass(frozen=True)
class Compiled:
    """The code of a file as it is read on symbols."""

    code: CodeType
    rebinding: bool
    """Whether some function of it binds global names."""
    numeric: Any
    """Its functions of numbers."""


class Probes:
    """The probes of some files; `places` says where each one is."""

    def __init__(self, open: bool = True) -> None:
        self.open = open
        """Whether functions that are compiled, or whose results are kept, get probes."""
        self.decorated = False
        """Whether there is such a function."""
        self.places: dict[int, tuple[str, int]] = {}
        self.real: dict[str, CodeType] = {}
        self.elsewhere: dict[str, Any] = {}
        """Modules that are known to lie beside no judged file."""
        """Files of the real program, compiled with their probes."""
        self.read: dict[str, Compiled] = {}
        """Files of its reading."""

    def inserted(
        self, tree: ast.Module, path: str, values: bool, dropped: bool = False
    ) -> ast.Module:
        """Return the tree with its probes; `dropped`: without the decorators of open functions."""
        return Inserting(self, path, values, dropped and self.open).module(tree)


class Inserting(ast.NodeVisitor):
    """Inserts the probes of one file. Numbers depend on the text alone."""

    def __init__(self, probes: Probes, path: str, values: bool, dropped: bool) -> None:
        self.probes, self.path, self.values, self.dropped = probes, path, values, dropped
        self.closed = 0
        self.number = zlib.crc32(path.encode()) << 24

    def module(self, tree: ast.Module) -> ast.Module:
        """Return the tree with its probes."""
        self._fields(tree)
        return ast.fix_missing_locations(tree)

    def _next(self, node: Any) -> int:
        self.number += 1
        self.probes.places[self.number] = self.path, node.lineno
        return self.number

    def _call(self, name: str, number: int, node: Any, *given: ast.expr) -> ast.Call:
        call = ast.Call(ast.Name(name, ast.Load()), [ast.Constant(number), *given], [])
        return ast.copy_location(call, node)

    def _statements(self, body: list[Any]) -> list[Any]:
        for statement in body:
            self._fields(statement)
        return body

    def _block(self, body: list[Any]) -> list[Any]:
        """Return a body that says when it begins."""
        if not body:
            return body
        number = self._next(body[0])
        mark = ast.copy_location(ast.Expr(self._call(AT, number, body[0])), body[0])
        first = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        self._statements(body)
        return body if self.closed else [*body[: int(first)], mark, *body[int(first) :]]

    def _expression(self, node: Any, side: bool = False) -> Any:
        """Return an expression in its probe; a side of a conditional always has one."""
        number = self._next(node) if side or isinstance(node, VALUES) else 0
        self._fields(node)
        loaded = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        silent = self.closed or not (side or self.values)
        if not number or not loaded or _quiet(node) or silent:
            return node
        return self._call(OF, number, node, node)

    def _fields(self, node: Any) -> None:
        found = isinstance(node, ast.FunctionDef) and any(
            _name(it) in CACHES for it in node.decorator_list
        )
        self.probes.decorated |= found
        shut = found and not self.probes.open
        if found and self.dropped:
            node.decorator_list = [it for it in node.decorator_list if _name(it) not in CACHES]
        self.closed += shut
        for name, value in ast.iter_fields(node):
            if name in UNPROBED and not (name == "keywords" and isinstance(node, ast.Call)):
                continue
            setattr(node, name, self._field(node, name, value))
        self.closed -= shut

    def _field(self, node: Any, name: str, value: Any) -> Any:
        if isinstance(value, list):
            if isinstance(node, ast.Module | ast.ClassDef) and name == "body":
                return self._statements(value)
            if value and isinstance(value[0], ast.stmt):
                return self._block(value)
            later = isinstance(node, ast.BoolOp)
            return [self._part(node, name, it, later and k > 0) for k, it in enumerate(value)]
        side = (isinstance(node, ast.IfExp) and name != "test") or (
            isinstance(node, ast.Lambda | ast.comprehension) and name == "body"
        )
        inside = name in ("elt", "key", "value") and isinstance(
            node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
        )
        return self._part(node, name, value, side or inside)

    def _part(self, node: Any, name: str, value: Any, side: bool) -> Any:
        if isinstance(node, ast.Call) and name == "func" and isinstance(value, CALLED):
            self._fields(value)  # what a call gives is looked at, not what is called
            return value
        if isinstance(value, ast.FormattedValue | ast.Starred | ast.Slice | ast.Yield):
            self._fields(value)
            return value
        if isinstance(node, ast.JoinedStr) or not isinstance(value, ast.AST):
            return value
        if isinstance(value, ast.expr):
            return self._expression(value, side)
        self._fields(value)
        return value


def _quiet(node: ast.expr) -> bool:
    """Tell whether an expression says nothing: `self`, or `super()`, which asks its frame."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return str(getattr(called, "attr", getattr(called, "id", "")))


def marking(reached: set[int]) -> dict[str, Callable[..., Any]]:
    """Return probes that note which blocks were reached, and nothing else."""
    note = reached.add

    def of(number: int, value: Any) -> Any:
        note(number)
        return value

    return {AT: note, OF: of}
