"""What a file may not say: names that reach around what stands in for Python's own.

They are looked for in the text, before any of it runs; names made up while it runs are refused
where they are asked for (`stand_ins`, `writing`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dpaudit.symbolic.allowed import DEFINED, NAMES, UNTOLD
from dpaudit.symbolic.run import CodeLine, Escape


def require_plain(nodes: Sequence[ast.AST], path: str) -> None:
    """Refuse names that reach around what stands in for Python's own, in all nodes of a file."""
    own = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    for node in nodes:
        if said := _refusal(node, own):
            raise Escape(*said, CodeLine(path, getattr(node, "lineno", 0)))


def _refusal(node: ast.AST, own: set[str]) -> tuple[str, str] | None:
    """Return what is refused of a node and why; `own` are the classes of its file."""
    if isinstance(node, ast.ClassDef) and "type" in [getattr(b, "id", "") for b in node.bases]:
        return "a metaclass", "it can make classes behave otherwise"
    if isinstance(node, ast.MatchClass) and (
        getattr(node.cls, "id", "") not in own
        or any(part.startswith("_") for part in node.kwd_attrs)
    ):
        return "a pattern that asks for a type or for attributes", ""
    if isinstance(node, ast.MatchSingleton) and isinstance(node.value, bool):
        return "a pattern True or False", "write an if"
    leaving = (ast.Return, ast.Break, ast.Continue)
    last = node.finalbody if isinstance(node, ast.Try | ast.TryStar) else []
    if any(isinstance(it, leaving) for part in last for it in ast.walk(part)):
        return "a finally that is left early", "it swallows exceptions"
    for name in _bound(node):
        if _special(name):
            return f"the name {name}, bound", "it is for Python to say"
    if isinstance(node, ast.FunctionDef) and _special(node.name) and node.name not in DEFINED:
        return f"a method {node.name}", "Python calls it behind the code's back"
    name = ""
    if isinstance(node, ast.Attribute):
        name = node.attr
        if name == "register":
            return "a class that is registered with another", ""
        if _special(name) and isinstance(node.ctx, ast.Store):
            return f"the name {name}, written to", "it is for Python to say"
    elif isinstance(node, ast.Name):
        name = node.id
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        # a format may ask for attributes: "{0.__class__}"
        hidden = ".__" in node.value or node.value.strip("_") in UNTOLD
        name = f"__{node.value.strip('_')}__" if hidden else ""
    if _special(name) and name not in NAMES:
        return f"the name {name}", "it can reach around what is followed"
    return None


def _special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a node binds, other than by assignment and by def."""
    match node:
        case ast.alias():
            return [node.asname or "", *node.name.split(".")]
        case ast.ClassDef() | ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
            return [node.name or ""]
        case ast.MatchMapping():
            return [node.rest or ""]
        case ast.arg():
            return [node.arg]
        case ast.Global() | ast.Nonlocal():
            return node.names
    return []
