"""Functions of numbers: a search by bisection has one result, whatever its comparisons were.

A function whose text does nothing but compute numbers from its arguments, from attributes of its
object and from constants is a mathematical function. Where it loops and compares on the way, and
some of what it reads is a symbol, it is not followed beyond a few branches: what it reads becomes
public (it may raise or loop, which shows it), and its result is an opaque value of that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from types import FunctionType
from typing import Any

from dpaudit.symbolic.allowed import OPAQUE_MATH
from dpaudit.symbolic.answers import TRUTHS
from dpaudit.symbolic.arrays import Array
from dpaudit.symbolic.elementwise import UNARY
from dpaudit.symbolic.poison import StandIn
from dpaudit.symbolic.run import Disagreement, Escape, Form, Run, active, current
from dpaudit.symbolic.values import Tracked, may_raise, opaque, union
from dpaudit.symbolic.weights import Weights, is_number

BODY, SUMMARY = "__body__", "__summary__"
OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
LONG = 8  # branches of a call that is followed
BUILTINS = ("abs", "min", "max", "float")
MODULES = ("math", "numpy")
FUNCTIONS = frozenset((*OPAQUE_MATH, *UNARY, "fabs", "maximum", "minimum", "abs")) - {"pow"}


class _Unknown(Exception):
    """Some part of a function is more than arithmetic."""


@dataclass
class Numeric:
    """A function of numbers: what it reads beside its arguments."""

    node: ast.FunctionDef
    searching: bool = False
    """Whether it compares in a loop."""
    plain: set[str] = field(default_factory=set)
    """Its own variables, as far as they are used as numbers."""
    names: set[str] = field(default_factory=set)
    """Global names: numbers and functions of numbers."""
    builtins: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    """Of its first argument: numbers."""
    rows: set[str] = field(default_factory=set)
    """Of its first argument: rows of numbers, of which it reads elements."""
    methods: set[str] = field(default_factory=set)
    """Of its first argument: functions of numbers."""

    def __post_init__(self) -> None:
        given = self.node.args
        self.given = [it.arg for it in (*given.posonlyargs, *given.args)]
        more = (given.vararg, given.kwarg, *given.kwonlyargs)
        constants = all(type(getattr(it, "value", None)) in (int, float) for it in given.defaults)
        if any(more) or not constants or not self.given or not self.node.body:
            raise _Unknown
        body = ast.walk(self.node)
        stored = {it.id for it in body if isinstance(it, ast.Name) and _stored(it)}
        self.local = stored | {*self.given}
        if self.given[0] in stored:
            self.plain.add(self.given[0])
        if not isinstance(self.node.body[-1], ast.Return):
            raise _Unknown
        self._block(self.node.body, False)
        if self.owning and self.given[0] in self.plain:
            raise _Unknown
        read = self.local | self.names | self.modules | self.attributes | self.rows | self.methods
        if any(name.startswith("__") for name in read):
            raise _Unknown  # in a class Python reads another name

    @property
    def owning(self) -> bool:
        """Whether its first argument is an object that it reads."""
        return bool(self.attributes or self.rows or self.methods)

    def _block(self, body: Iterable[ast.stmt], looping: bool) -> None:
        for it in body:
            match it:
                case ast.Expr(ast.Constant(str())) | ast.Pass() | ast.Break() | ast.Continue():
                    pass
                case ast.Assign([ast.Name()], value) | ast.Return(ast.expr() as value):
                    self._number(value)
                case ast.AnnAssign(ast.Name(), _, ast.expr() as value):
                    self._number(value)
                case ast.AugAssign(ast.Name(), op, value) if isinstance(op, OPERATORS):
                    self._number(value)
                case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
                    if len(targets) != len(values) or not all(
                        isinstance(target, ast.Name) for target in targets
                    ):
                        raise _Unknown
                    for value in values:
                        self._number(value)
                case ast.If(test, then, other):
                    self.searching |= looping
                    self._test(test)
                    self._block((*then, *other), looping)
                case ast.While(test, then, []):
                    self.searching = True
                    self._test(test)
                    self._block(then, True)
                case ast.For(ast.Name(), ast.Call(ast.Name("range"), given, []), then, []):
                    self.builtins.add("range")
                    for value in given:
                        self._number(value)
                    self._block(then, True)
                case _:
                    raise _Unknown

    def _test(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(True):
                pass
            case ast.UnaryOp(ast.Not(), value):
                self._test(value)
            case ast.BoolOp(_, values):
                for value in values:
                    self._test(value)
            case ast.Compare(left, ops, others) if all(isinstance(it, ORDERS) for it in ops):
                for value in (left, *others):
                    self._number(value)
            case _:
                raise _Unknown

    def _number(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value) if type(value) in (int, float):
                pass
            case ast.Name(name):
                (self.plain if name in self.local else self.names).add(name)
            case ast.UnaryOp(ast.USub() | ast.UAdd(), value):
                self._number(value)
            case ast.BinOp(left, ast.Pow(), ast.Constant(int())):
                self._number(left)
            case ast.BinOp(left, op, right) if isinstance(op, OPERATORS):
                self._number(left)
                self._number(right)
            case ast.IfExp(test, then, other):
                self._test(test)
                self._number(then)
                self._number(other)
            case ast.Subscript(ast.Attribute(ast.Name(name), part), index) if self._first(name):
                self.rows.add(part)
                self._number(index)
            case ast.Attribute(ast.Name(name), part) if self._first(name):
                self.attributes.add(part)
            case ast.Call(function, given, []) if given:
                self._called(function, len(given))
                for value in given:
                    self._number(value)
            case _:
                raise _Unknown

    def _called(self, function: ast.expr, given: int) -> None:
        match function:
            case ast.Name(name) if name not in self.local:
                if name in ("min", "max") and given == 1:
                    raise _Unknown  # of a sequence
                (self.builtins if name in BUILTINS else self.names).add(name)
            case ast.Attribute(ast.Name(name), part) if self._first(name):
                self.methods.add(part)
            case ast.Attribute(ast.Name(name), part) if name not in self.local:
                if part not in FUNCTIONS:
                    raise _Unknown
                self.modules.add(name)
            case _:
                raise _Unknown

    def _first(self, name: str) -> bool:
        return name == self.given[0]

    def rewrite(self) -> None:
        """Make the body of a search a function of its own, which may be left out."""
        node = self.node
        if not self.searching:
            return
        plain = ast.arguments([], [ast.arg(name) for name in self.given], None, [], [], None, [])
        body: Any = ast.FunctionDef(BODY, plain, node.body, [])
        body.type_params = []
        values: list[ast.expr] = [ast.Name(name, ast.Load()) for name in self.given]
        given = [ast.Constant(node.name), ast.Constant(node.lineno), ast.Name(BODY, ast.Load())]
        call = ast.Call(ast.Name(SUMMARY, ast.Load()), [*given, *values], [])
        said = node.body[:1] if ast.get_docstring(node, clean=False) is not None else []
        node.body = [*said, body, ast.Return(call)]
        for part in node.body:
            ast.fix_missing_locations(ast.copy_location(part, node))


def _stored(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def numeric_functions(nodes: Iterable[ast.AST]) -> dict[tuple[str, int], Numeric]:
    """Return the functions of numbers among all nodes of a file, by name and line."""
    found = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            with suppress(_Unknown):
                found[node.name, node.lineno] = Numeric(node)
    return found


class Summaries:
    """The functions of numbers of all files."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str, int], Numeric] = {}
        """By file, name and line."""
        self.codes: dict[tuple[str, str, int], Numeric] = {}
        """By file, name and first line of the code, where a decorator may stand."""

    def add(self, path: str, found: dict[tuple[str, int], Numeric]) -> None:
        """Take note of the functions of a file."""
        for (name, line), it in found.items():
            first = min([line, *(part.lineno for part in it.node.decorator_list)])
            self.known[path, name, line] = self.codes[path, name, first] = it

    def __call__(self, name: str, line: int, body: Callable[..., Any], *given: Any) -> Any:
        """Run a function of numbers, or leave it out where it would branch on symbols."""
        run, it = current(), self.known[body.__code__.co_filename, name, line]
        read = _Read(self, body.__globals__)
        arguments = [given[k] for k, part in enumerate(it.given) if part in it.plain]
        free = body.__code__.co_freevars  # a variable of a function around it may be anything
        if free or not all(map(read.number, arguments)) or not read.function(it, given[0]):
            return body(*given)
        tracked = [value for value in read.values if isinstance(value, Tracked)]
        if run.guarded:
            start = len(run.forms)
            found = body(*given)
            _require_read([*_pairs(run.forms[start:]), *union(found)], union(*tracked))
            return found
        if tracked and _Trial.of(run).is_long(body, given):
            may_raise(f"the search of {name}(), which depends on rewards or noise", *tracked)
            return opaque(union(*tracked), None)
        return body(*given)


def _pairs(forms: Iterable[Form]) -> list[tuple[Weights, Weights]]:
    return [(form.rows, form.draws) for form in forms]


def _require_read(met: list[tuple[Weights, Weights]], read: list[tuple[Weights, Weights]]) -> None:
    """Raise unless all that a function has met can be computed from what it is known to read.

    What it computes is linear in what it reads, or a function of such forms: each form that it
    meets is a combination of those that it reads.
    """
    basis: list[tuple[Any, dict[Any, Fraction]]] = []
    for pair in read:
        if left := _reduced(pair, basis):
            basis.append((next(iter(left)), left))
    if any(_reduced(pair, basis) for pair in met):
        raise Disagreement(f"{current().place()}: a function reads more than its text says")


def _reduced(
    pair: tuple[Weights, Weights], basis: list[tuple[Any, dict[Any, Fraction]]]
) -> dict[Any, Fraction]:
    """Return a form less its part in the span of others, each with a name that is its pivot."""
    left = {
        (kind, name): Fraction(it) for kind, part in enumerate(pair) for name, it in part.items()
    }
    for pivot, row in basis:
        if factor := left.get(pivot, Fraction(0)) / row[pivot]:
            for name, it in row.items():
                left[name] = left.get(name, Fraction(0)) - factor * it
    return {name: it for name, it in left.items() if it}


class _Long(Exception):
    """A trial has branched too often."""


class _Trial(Run):
    """A run on its first outcomes, to see how often a function branches; nothing of it is kept."""

    @classmethod
    def of(cls, run: Run) -> _Trial:
        """Return a trial that knows what a run knows."""
        known = dict(run.laws), dict(run.columns)
        found = cls(run.files, (), *known, run.next_symbol, run.first, rewards=run.rewards)
        found.signs, found.replaced = dict(run.signs), {*run.replaced}
        return found

    def branch(self, outcomes: int, real: Any = None) -> int:
        """Return the first outcome."""
        if len(self.trace) == LONG:
            raise _Long
        return super().branch(outcomes, real)

    def is_long(self, body: Callable[..., Any], given: tuple[Any, ...]) -> bool:
        """Tell whether a call branches too often to be followed."""
        try:
            with active(self):
                body(*given)
        except _Long:
            return True
        except (Escape, Exception):
            return False  # it is raised again
        return False


class _Read:
    """Collects all that a function of numbers reads; False where some of it is something else."""

    def __init__(self, summaries: Summaries, scope: dict[str, Any]) -> None:
        self.codes, self.scope = summaries.codes, scope
        self.values: list[Any] = []
        self.seen: set[int] = set()

    def number(self, value: Any) -> bool:
        """Add a number."""
        self.values.append(value)
        return isinstance(value, Tracked) or (is_number(value) and not isinstance(value, TRUTHS))

    def row(self, value: Any) -> bool:
        """Add the elements of a row."""
        if isinstance(value, Array):
            return value.ndim == 1 and all(map(self.number, value.store.flat))
        return type(value) in (list, tuple) and all(map(self.number, value))

    def function(self, it: Numeric, first: Any) -> bool:
        """Add what a function reads beside its arguments; `first` is the first of them."""
        if id(it) in self.seen:
            return True
        self.seen.add(id(it))
        scope, own = self.scope, _Members(first)
        modules = [scope.get(name) for name in it.modules]
        return (
            not any(name in scope for name in it.builtins)
            and all(isinstance(m, StandIn) and m.__name__ in MODULES for m in modules)
            and all(self._called(v, None) or self.number(v) for v in map(scope.get, it.names))
            and all(self.number(own.get(name)) for name in it.attributes)
            and all(self.row(own.get(name)) for name in it.rows)
            and all(self._called(own.get(name, of_class=True), first) for name in it.methods)
        )

    def _called(self, function: Any, own: Any) -> bool:
        """Add what a function reads that is called, by itself or as a method."""
        static = isinstance(function, staticmethod)
        function = function.__func__ if static else function
        if type(function) is not FunctionType:
            return False
        code = function.__code__
        it = self.codes.get((code.co_filename, code.co_name, code.co_firstlineno))
        if it is None or function.__globals__ is not self.scope or function.__closure__:
            return False
        bound = own is not None and not static
        if it.owning if not bound else it.given[0] in it.plain:
            return False  # it would read an argument's attributes, or its object as a number
        return self.function(it, own)


class _Members:
    """What an object and its classes hold, without asking them."""

    def __init__(self, value: Any) -> None:
        self.own = getattr(value, "__dict__", {})
        self.kinds = [vars(kind) for kind in type(value).__mro__]
        self.asked = any("__getattribute__" in table for table in self.kinds[:-1])
        """Whether its classes answer for members themselves."""

    def get(self, name: str, of_class: bool = False) -> Any:
        """Return a member; of the object itself before those of its classes, if these allow it."""
        found = next((table[name] for table in self.kinds if name in table), None)
        if self.asked:
            return None
        if name not in self.own:
            return found
        # a descriptor of the class may go first
        return None if of_class or hasattr(type(found), "__get__") else self.own[name]
