"""Small semantic changes of a source file, one at a time, by syntax.

A change replaces the text of one syntax node and leaves the rest of the file as it is. Left alone
are words (messages, docstrings, annotations) and whatever reads a clock or a budget: that decides
how long a check works, not what it may conclude.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
OPPOSITE = {
    "min": "max",
    "any": "all",
    "below": "above",
    "lower": "upper",
    "floor": "ceil",
    "minimum": "maximum",
}
OPPOSITE |= {new: old for old, new in OPPOSITE.items()}
DROPPED = {"reversed", "nextafter", "abs"}  # calls whose first argument can stand for them
INEXACT = {"exact", "Fraction"}  # and whose argument a double can
CLOCK = {"deadline", "monotonic", "budget", "seconds", "left", "patient", "OutOfBudget"}
SPOKEN = {"__str__", "__repr__", "show", "said", "shortened", "_reason", "_why", "tree"}


@dataclass(frozen=True)
class Mutant:
    """One change: where, from which text to which, and a key that survives shifts of lines."""

    module: str
    function: str
    lines: range
    before: str
    after: str
    source: str
    key: str
    why: str


def collapsed(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def mutant(
    module: str, source: str, start: int, stop: int, new: str, function: str, why: str
) -> Mutant:
    """Return the change of source[start:stop] into new; both are shown as whole lines."""
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", stop)
    changed = source[:start] + new + source[stop:]
    before = collapsed(source[first:last])
    after = collapsed(source[first:start] + new + source[stop:last])
    lines = range(source.count("\n", 0, start) + 1, source.count("\n", 0, stop) + 2)
    key = f"{module} {function}: {before} => {after}"
    return Mutant(module, function, lines, before, after, changed, key, why)


def mutants(module: str, source: str) -> list[Mutant]:
    """Return every change of a file, in the order of the text; equal ones are numbered."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        text = source[starts[line - 1] : starts[line]]
        return starts[line - 1] + len(text.encode()[:column].decode())

    made: list[tuple[int, Mutant]] = []
    for node, new, function, why in _changes(ast.parse(source), None, ""):
        start = place(node.lineno, node.col_offset)
        stop = place(node.end_lineno, node.end_col_offset)
        if collapsed(source[start:stop]) != collapsed(new):
            made.append((start, mutant(module, source, start, stop, new, function, why)))
    counted: Counter[str] = Counter()
    numbered = []
    for _, each in sorted(made, key=lambda pair: pair[0]):
        counted[each.key] += 1
        number = f" #{counted[each.key]}" * (counted[each.key] > 1)
        numbered.append(Mutant(**{**vars(each), "key": each.key + number}))
    return numbered


Change = tuple[Any, str, str, str]


def _changes(node: ast.AST, parent: ast.AST | None, function: str) -> Iterator[Change]:
    """Yield (node to replace, its new text, the function it is in, the operator)."""
    if isinstance(node, ast.FunctionDef) and node.name in SPOKEN:
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    if isinstance(node, ast.expr | ast.Raise) and _reads_clock(node):
        return
    for place, new, why in _here(node, parent):
        yield place, new, function, why
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "keywords_bases"):
            continue
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "breach":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _changes(child, node, function)


def _reads_clock(node: ast.AST) -> bool:
    names = (
        getattr(it, "id", None) or getattr(it, "attr", None) or getattr(it, "arg", None)
        for it in ast.walk(node)
    )
    return any(name in CLOCK for name in names)


def _text(node: ast.AST) -> str:
    return f"({ast.unparse(node)})"


def _with(node: ast.AST, **fields: Any) -> str:
    kept = {name: value for name, value in ast.iter_fields(node)}
    return _text(type(node)(**{**kept, **fields}))


def _here(node: ast.AST, parent: ast.AST | None) -> Iterator[tuple[ast.AST, str, str]]:
    """Yield the changes of one node itself."""
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                swapped = [*ops[:i], SWAPPED[type(op)](), *ops[i + 1 :]]
                yield node, _with(node, ops=swapped), "comparison"
        case ast.BoolOp(values=values):
            for i in range(len(values)):
                rest = [*values[:i], *values[i + 1 :]]
                new = _with(node, values=rest) if len(rest) > 1 else _text(rest[0])
                yield node, new, "dropped condition"
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield node, _text(operand), "dropped sign"
        case ast.BinOp(op=op, left=left, right=right) if type(op) in SWAPPED:
            if not any(
                isinstance(it, ast.Constant | ast.JoinedStr) and _is_words(it)
                for it in (left, right)
            ):
                yield node, _with(node, op=SWAPPED[type(op)]()), "arithmetic"
        case ast.BinOp(op=ast.BitOr(), left=left, right=right) if isinstance(parent, ast.Call):
            yield node, _text(left), "dropped type"
            yield node, _text(right), "dropped type"
        case ast.AugAssign(op=ast.Add(), target=target, value=value):
            yield node, f"{ast.unparse(target)} -= {ast.unparse(value)}", "arithmetic"
        case ast.Constant(value=bool(value)):
            yield node, str(not value), "boolean"
        case ast.Constant(value=int(value)) if 0 <= value <= 3:
            yield node, str(value + 1), "number"
        case ast.Call(func=called, args=args):
            yield from _calls(node, called, args)
        case ast.Raise():
            yield node, "pass", "dropped raise"
        case ast.Expr(value=ast.Call()) if not _reads_clock(node):
            yield node, "pass", "dropped call"
        case ast.If(test=test, body=body) if isinstance(
            body[-1], ast.Return | ast.Continue | ast.Break
        ) and not _reads_clock(test):
            yield test, "False", "dropped guard"
        case ast.Return(value=value) if value is not None and not isinstance(value, ast.Constant):
            if isinstance(value, ast.Compare | ast.BoolOp) or _is_not(value):
                yield value, "True", "constant"
                yield value, "False", "constant"
        case ast.comprehension(ifs=ifs):
            for test in ifs:
                yield test, "True", "dropped filter"
        case ast.IfExp(body=body, orelse=orelse) if not (_is_words(body) or _is_words(orelse)):
            yield node, _text(body), "one branch"
            yield node, _text(orelse), "one branch"
        case ast.MatchOr(patterns=patterns):
            for i in range(len(patterns)):
                rest = ast.MatchOr([*patterns[:i], *patterns[i + 1 :]])
                new = ast.unparse(rest if len(rest.patterns) > 1 else rest.patterns[0])
                yield node, new, "dropped pattern"
        case ast.Tuple(elts=elts) | ast.Set(elts=elts) if _is_collection(node, parent):
            for i in range(len(elts)):
                rest = [*elts[:i], *elts[i + 1 :]]
                yield node, _with(node, elts=rest).strip("()").join("()"), "dropped element"


def _calls(
    node: ast.Call, called: ast.expr, args: list[ast.expr]
) -> Iterator[tuple[ast.AST, str, str]]:
    name = getattr(called, "id", None) or getattr(called, "attr", "")
    if name in OPPOSITE:
        new = ast.unparse(called)
        new = new[: len(new) - len(name)] + OPPOSITE[name]
        yield called, new, "opposite"
    if name in DROPPED and args:
        yield node, _text(args[0]), "dropped call"
    if name in INEXACT and len(args) == 1:
        yield node, f"float({ast.unparse(args[0])})", "inexact"


def _is_words(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _is_not(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    name = getattr(getattr(node, "func", None), "id", "")
    return name in ("any", "all", "bool", "isinstance")


def _is_collection(node: ast.Tuple | ast.Set, parent: ast.AST | None) -> bool:
    """Tell whether a display lists alternatives: types, names or functions to compare with."""
    plain = all(isinstance(it, ast.Name | ast.Attribute) or _is_words(it) for it in node.elts)
    named = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name)
    listed = named or isinstance(parent, ast.Compare | ast.Call)
    return (
        plain
        and listed
        and len(node.elts) > 1
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    )
