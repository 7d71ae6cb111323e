"""What code may ask about names, classes and identity while it is read on symbols.

Stand-ins are other objects than what they stand in for, and copies of a state are other objects
than the state: a program that asks who somebody is, or whether two numbers are one object, would
be read as another program. Such questions are answered as Python would, or end in silence.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from dpaudit.symbolic.allowed import MEMBERS, NAMES, SPECIAL
from dpaudit.symbolic.answers import Answer
from dpaudit.symbolic.probes import OF
from dpaudit.symbolic.run import CodeLine, Escape, current, named
from dpaudit.symbolic.stand_ins import is_plain

ANSWERED, ASKING, SAME, SHOWN = "__answered__", "__asking__", "__same__", "__shown__"
OWNED, ELEMENT, BASE = "__owned__", "__element__", "__base__"
CAUGHT, CONTEXT = "__caught__", "__context__"
ENTERED, LEFT, ORDERED = "__entered__", "__left__", "__ordered__"
SWALLOWS = (ast.Return, ast.Break, ast.Continue)
YIELDS = (ast.Yield, ast.YieldFrom, ast.Await)
SINGLE = (type(None), bool, type(...), type(NotImplemented))


def ordered(value: Any) -> Any:
    """Return a set, or an element of one; the order of texts is another one in every process."""
    parts = value if isinstance(value, set | frozenset) else (value,)
    if len(parts) > 1 or parts is not value:
        for part in parts:
            if isinstance(part, str | bytes | tuple):
                raise current().escape("a set of texts", "its order is not fixed; use a list")
    return value


def same(one: Any, two: Any) -> bool:
    """Answer `one is two`; of numbers, texts and tuples Python promises nothing."""
    for value, other in ((one, two), (two, one)):
        if isinstance(value, SINGLE) and not (isinstance(value, bool) and type(other) is Answer):
            return one is two
    plain = [is_plain(value) or isinstance(value, Answer) for value in (one, two)]
    if all(plain):
        raise current().escape(
            f"`is` on a {named(type(one))}", "whether two are one object is not fixed"
        )
    if any(plain):
        return False  # a number is no object of another type
    classes = [getattr(value, "real_type", value) for value in (one, two)]
    return classes[0] is classes[1]


class Bare(ast.NodeTransformer):
    """Takes the probes out of an expression: Python does not look at it where it is asked."""

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """Return what a probe is about."""
        probe = getattr(node.func, "id", "") == OF
        return self.visit(node.args[1]) if probe else self.generic_visit(node)


class Guarded(ast.NodeTransformer):
    """Rewrites what a module asks and writes, so that `described`, `same`, ... answer and look."""

    def __init__(self, path: str) -> None:
        self.path, self.inside = path, 0

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        """Write to an attribute; ask for a name, a class, a method that writes."""
        self.generic_visit(node)
        name = ast.Constant(node.attr)
        if not isinstance(node.ctx, ast.Load):
            node.value = self._call(node.value, OWNED, node.value)
        elif node.attr in SPECIAL:
            return self._call(node, ANSWERED, node.value, name)
        elif node.attr not in MEMBERS and node.attr not in NAMES:
            node.value = self._call(node.value, ASKING, node.value, name)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:  # noqa: N802
        """Write to an element."""
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            node.value = self._call(node.value, ELEMENT, node.value)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # noqa: N802
        """Derive from a type that is stood in for: enumerations may."""
        self.generic_visit(node)
        names = [getattr(base, "id", getattr(base, "attr", "")) for base in node.bases]
        for number, name in enumerate(names):
            if name in ("str", "int", "float"):
                if not any(other.endswith(("Enum", "Flag")) for other in names):
                    where = CodeLine(self.path, node.lineno)
                    raise Escape(f"a class derived from {name}", "keep it as an attribute", where)
                node.bases[number] = self._call(node.bases[number], BASE, node.bases[number])
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:  # noqa: N802
        """Ask whether two objects are one."""
        self.generic_visit(node)
        if not any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return node
        if len(node.ops) > 1:
            where = CodeLine(self.path, node.lineno)
            raise Escape("`is` in a chain of comparisons", "write it apart", where)
        asked = self._call(node, SAME, node.left, node.comparators[0])
        if isinstance(node.ops[0], ast.Is):
            return asked
        return ast.copy_location(ast.UnaryOp(ast.Not(), asked), node)

    def visit_Set(self, node: ast.Set) -> ast.AST:  # noqa: N802
        """Make a set: its order is that of the hashes."""
        self.generic_visit(node)
        return self._call(node, ORDERED, node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:  # noqa: N802
        """Make a set."""
        self.generic_visit(node)
        return self._call(node, ORDERED, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        """Make a set, or put something into one."""
        self.generic_visit(node)
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if isinstance(node.func, ast.Name) and name in ("set", "frozenset"):
            return self._call(node, ORDERED, node)
        if name == "add" and len(node.args) == 1:
            node.args[0] = self._call(node.args[0], ORDERED, node.args[0])
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:  # noqa: N802
        """Catch an exception."""
        self.generic_visit(node)
        asked = ast.Expr(self._call(node, CAUGHT))
        node.body.insert(0, ast.fix_missing_locations(ast.copy_location(asked, node)))
        return node

    def visit_Try(self, node: ast.Try) -> ast.AST:  # noqa: N802
        """Enter a body whose exceptions are caught; at module level no symbol is about."""
        self.generic_visit(node)
        kinds = [
            Bare().visit(copy.deepcopy(it.type))
            if it.type
            else ast.Name("BaseException", ast.Load())
            for it in node.handlers
        ]
        ends = [it for part in node.finalbody for it in ast.walk(part) if isinstance(it, SWALLOWS)]
        if ends:
            where = CodeLine(self.path, ends[0].lineno)
            raise Escape("a way out of `finally`", "it swallows what was raised", where)
        if kinds and self.inside:
            node.body = self._within(node.body, kinds)
        return node

    def _within(self, body: list[ast.stmt], kinds: list[ast.expr]) -> list[ast.stmt]:
        """Return a body that says when it is entered and left."""
        if any(isinstance(it, YIELDS) for part in body for it in ast.walk(part)):
            where = CodeLine(self.path, body[0].lineno)
            raise Escape("a yield within reach of a handler", "yield after it", where)
        begun, ended = (
            ast.copy_location(ast.Expr(self._call(body[0], name, *given)), body[0])
            for name, given in ((ENTERED, kinds), (LEFT, []))
        )
        return [begun, ast.copy_location(ast.Try(body, [], [], [ended]), body[0])]

    visit_TryStar: Any = visit_Try  # noqa: N815

    def visit_With(self, node: ast.With) -> ast.AST:  # noqa: N802
        """Enter a context, which may swallow exceptions."""
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = self._call(item.context_expr, CONTEXT, item.context_expr)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:  # noqa: N802
        """Make text of a value."""
        self.generic_visit(node)
        node.value = self._call(node.value, SHOWN, node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # noqa: N802
        """Make text by `%`."""
        self.generic_visit(node)
        node.right = self._formatted(node.op, node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802
        """Make text by `%=`."""
        self.generic_visit(node)
        node.value = self._formatted(node.op, node.value)
        return node

    def _formatted(self, op: ast.operator, value: ast.expr) -> ast.expr:
        text = isinstance(op, ast.Mod) and not isinstance(value, ast.Constant)
        return self._call(value, SHOWN, value) if text else value

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: N802
        """Have a length, or elements: Python swallows a TypeError there, an IndexError here."""
        self.inside += 1
        self.generic_visit(node)
        self.inside -= 1
        if node.name == "__len__":
            asked: list[ast.stmt] = [ast.Expr(self._call(node, CAUGHT)), ast.Raise()]
            handler = ast.ExceptHandler(ast.Name("TypeError", ast.Load()), None, asked)
            guarded = ast.Try(node.body, [handler], [], [])
            node.body = [ast.fix_missing_locations(ast.copy_location(guarded, node))]
        if node.name == "__getitem__":
            node.body = self._within(node.body, [ast.Name("IndexError", ast.Load())])
            ast.fix_missing_locations(node)
        return node

    @staticmethod
    def _call(node: ast.AST, name: str, *given: ast.expr) -> ast.Call:
        found = ast.Call(ast.Name(name, ast.Load()), list(given), [])
        return ast.fix_missing_locations(ast.copy_location(found, node))
