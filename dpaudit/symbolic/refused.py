"""What a file may not say: names that reach around what stands in for Python's own.

They are looked for in the text, before any of it runs; names made up while it runs are refused
where they are asked for (`stand_ins`, `writing`).
"""

from __future__ import annotations

import ast

from dpaudit.symbolic.allowed import DEFINED, NAMES, UNTOLD
from dpaudit.symbolic.run import Escape, Place


def require_plain(tree: ast.AST, path: str) -> None:
    """Refuse names that reach around what stands in for Python's own."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        where = Place(path, getattr(node, "lineno", 0))
        if isinstance(node, ast.ClassDef) and "type" in [getattr(b, "id", "") for b in node.bases]:
            raise Escape("a metaclass", "it can make classes behave otherwise", where)
        if isinstance(node, ast.MatchClass) and (
            getattr(node.cls, "id", "") not in own
            or any(part.startswith("_") for part in node.kwd_attrs)
        ):
            raise Escape("a pattern that asks for a type or for attributes", "", where)
        if isinstance(node, ast.MatchSingleton) and isinstance(node.value, bool):
            raise Escape("a pattern True or False", "write an if", where)
        leaving = (ast.Return, ast.Break, ast.Continue)
        last = node.finalbody if isinstance(node, ast.Try | ast.TryStar) else []
        if any(isinstance(it, leaving) for part in last for it in ast.walk(part)):
            raise Escape("a finally that is left early", "it swallows exceptions", where)
        for name in _bound(node):
            if name.startswith("__") and name.endswith("__"):
                raise Escape(f"the name {name}, bound", "it is for Python to say", where)
        name = getattr(node, "name", "") if isinstance(node, ast.FunctionDef) else ""
        if name.startswith("__") and name.endswith("__") and name not in DEFINED:
            raise Escape(f"a method {name}", "Python calls it behind the code's back", where)
        name = ""
        if isinstance(node, ast.Attribute):
            name = node.attr
            if name == "register":
                raise Escape("a class that is registered with another", "", where)
            if name.startswith("__") and name.endswith("__") and isinstance(node.ctx, ast.Store):
                raise Escape(f"the name {name}, written to", "it is for Python to say", where)
        elif isinstance(node, ast.Name):
            name = node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # a format may ask for attributes: "{0.__class__}"
            hidden = ".__" in node.value or node.value.strip("_") in UNTOLD
            name = f"__{node.value.strip('_')}__" if hidden else ""
        if name.startswith("__") and name.endswith("__") and name not in NAMES:
            raise Escape(f"the name {name}", "it can reach around what is followed", where)


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a node binds, other than by assignment and by def."""
    match node:
        case ast.alias():
            return [node.asname or ""]
        case ast.ClassDef() | ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
            return [node.name or ""]
        case ast.MatchMapping():
            return [node.rest or ""]
        case ast.arg():
            return [node.arg]
        case ast.Global() | ast.Nonlocal():
            return node.names
    return []
