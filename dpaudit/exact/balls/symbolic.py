"""Are two parameters of a rule the same real number? Answered by their formulas, not by balls.

Balls that overlap never prove equality. A formula written once against an `Arithmetic` can also be
evaluated on expression trees; two equal trees are the same real number. Unequal trees say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpaudit.core.arithmetic import exact


@dataclass(frozen=True, eq=True)
class Tree:
    """An expression: an operation and its operands, down to rationals."""

    operation: str
    operands: tuple[Any, ...]

    def _with(self, operation: str, other: Any, swapped: bool) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # NumPy goes through the elements
        pair = (_leaf(other), self) if swapped else (self, _leaf(other))
        return Tree(operation, pair)

    def __add__(self, other: Any) -> Any:
        return self._with("+", other, swapped=False)

    def __radd__(self, other: Any) -> Any:
        return self._with("+", other, swapped=True)

    def __sub__(self, other: Any) -> Any:
        return self._with("-", other, swapped=False)

    def __rsub__(self, other: Any) -> Any:
        return self._with("-", other, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._with("*", other, swapped=False)

    def __rmul__(self, other: Any) -> Any:
        return self._with("*", other, swapped=True)

    def __truediv__(self, other: Any) -> Any:
        return self._with("/", other, swapped=False)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with("/", other, swapped=True)

    def __pow__(self, other: Any) -> Any:
        return self._with("**", other, swapped=False)

    def __neg__(self) -> Tree:
        return Tree("neg", (self,))


def _leaf(value: Any) -> Tree:
    if isinstance(value, Tree):
        return value
    if not isinstance(value, int | float | Fraction | np.integer):
        raise TypeError(f"not a rational: {value!r}")
    return Tree("number", (exact(value),))


class TreeArithmetic:
    """Builds the expression of a formula instead of its value."""

    def number(self, value: Any) -> Any:
        """Return a rational leaf (or an array of them)."""
        return np.frompyfunc(_leaf, 1, 1)(value)

    def _function(self, name: str, *operands: Any) -> Any:
        return np.frompyfunc(lambda *given: Tree(name, given), len(operands), 1)(*operands)

    def log(self, x: Any) -> Any:
        """Natural logarithm."""
        return self._function("log", x)

    def sqrt(self, x: Any) -> Any:
        """Square root."""
        return self._function("sqrt", x)

    def exp(self, x: Any) -> Any:
        """Exponential."""
        return self._function("exp", x)

    def maximum(self, x: Any, y: Any) -> Any:
        """The larger of two numbers."""
        return self._function("maximum", x, y)


TREE = TreeArithmetic()


def rational(value: Any) -> Fraction | None:
    """Return the rational that an expression of the four operations is, or None."""
    tree = _leaf(value)
    if tree.operation == "number":
        number: Fraction = tree.operands[0]
        return number
    parts = [rational(operand) for operand in tree.operands]
    if any(part is None for part in parts):
        return None
    match tree.operation, parts:
        case "+", [a, b]:
            return a + b  # type: ignore[operator]
        case "-", [a, b]:
            return a - b  # type: ignore[operator]
        case "*", [a, b]:
            return a * b  # type: ignore[operator]
        case "/", [a, b] if b != 0:
            return a / b  # type: ignore[operator]
        case "neg", [a]:
            return -a  # type: ignore[operator]
    return None
