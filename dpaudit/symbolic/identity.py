"""What code may ask about names, classes and identity while it is read on symbols.

Stand-ins are other objects than what they stand in for, and copies of a state are other objects
than the state: a program that asks who somebody is, or whether two numbers are one object, would
be read as another program. Such questions are answered as Python would, or end in silence.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from dpaudit.symbolic.allowed import ASKED
from dpaudit.symbolic.run import Escape, Place, current
from dpaudit.symbolic.stand_ins import HIDDEN, is_plain, stands_in

NAME, SAME, SHOWN, OWNER = "__described__", "__same__", "__shown__", "__owner__"
TEXTS = ("str", "repr", "format", "ascii")
SINGLE = (type(None), bool, type(...), type(NotImplemented))


def same(one: Any, two: Any) -> bool:
    """Answer `one is two`; of numbers, texts and tuples Python promises nothing."""
    for value in (one, two):
        if isinstance(value, SINGLE):
            return one is two
    for value in (one, two):
        if is_plain(value):
            raise current().escape(
                f"`is` on a {type(value).__name__}", "whether two are one object is not fixed"
            )
    classes = [getattr(value, "real_type", value) for value in (one, two)]
    return classes[0] is classes[1]


def shown(value: Any) -> Any:
    """Return a value that is about to become text, unless its text would tell who it is."""
    for part in value if type(value) is tuple else (value,):
        ours = isinstance(part, (type, FunctionType)) and stands_in(part)
        if ours and not hasattr(part, "real_type"):
            raise current().escape("the text of what stands in for something else")
    return value


class Guarded(ast.NodeTransformer):
    """Rewrites the questions of a module so that `described` and `same` answer them."""

    def __init__(self, path: str) -> None:
        self.path = path

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        """Ask for a name or a class."""
        self.generic_visit(node)
        if node.attr in HIDDEN:
            node.value = self._call(node.value, OWNER, node.value, ast.Constant(node.attr))
            return node
        if node.attr not in ASKED or not isinstance(node.ctx, ast.Load):
            return node
        return self._call(node, NAME, node.value, ast.Constant(node.attr))

    def visit_Compare(self, node: ast.Compare) -> ast.AST:  # noqa: N802
        """Ask whether two objects are one."""
        self.generic_visit(node)
        if not any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return node
        if len(node.ops) > 1:
            where = Place(self.path, node.lineno)
            raise Escape("`is` in a chain of comparisons", "write it apart", where)
        asked = self._call(node, SAME, node.left, node.comparators[0])
        if isinstance(node.ops[0], ast.Is):
            return asked
        return ast.copy_location(ast.UnaryOp(ast.Not(), asked), node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:  # noqa: N802
        """Make text of a value."""
        self.generic_visit(node)
        node.value = self._call(node.value, SHOWN, node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802
        """Make text by `%`."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and not isinstance(node.right, ast.Constant):
            node.right = self._call(node.right, SHOWN, node.right)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """Make text by a call."""
        self.generic_visit(node)
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in TEXTS:
            node.args = [
                part if isinstance(part, ast.Starred) else self._call(part, SHOWN, part)
                for part in node.args
            ]
        return node

    @staticmethod
    def _call(node: ast.AST, name: str, *given: ast.expr) -> ast.Call:
        found = ast.Call(ast.Name(name, ast.Load()), list(given), [])
        return ast.fix_missing_locations(ast.copy_location(found, node))
