"""One error budget for a whole audit, split in exact fractions that cannot add up to more.

The probability that an audit refutes a true claim, or prints a lower bound above the truth, is at
most the sum of the shares of its tests (union bound). So there is one budget, it is split once at
each level (test kind, pair and event and direction, look), and the report shows the tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpaudit.errors import DpauditError, InvalidArgument


class ErrorBudget:
    """A probability of error that can be split, once, among named parts."""

    def __init__(self, error: float | Fraction, label: str = "whole audit") -> None:
        if not isinstance(error, int | float | Fraction) or isinstance(error, bool):
            raise InvalidArgument("error", error, "must be a number.")
        if not 0 < error < 1:
            raise InvalidArgument("error", error, "must lie strictly between 0 and 1.")
        self.error = Fraction(error)
        self.label = label
        self.parts: tuple[ErrorBudget, ...] = ()

    def split(
        self, labels: Sequence[str], weights: Sequence[int] | None = None
    ) -> tuple[ErrorBudget, ...]:
        """Split the budget among parts in proportion to whole weights (equal by default)."""
        if self.parts:
            raise DpauditError(f"the error budget of {self.label!r} has been spent already.")
        chosen = [1] * len(labels) if weights is None else list(weights)
        total = sum(chosen)
        self.parts = tuple(
            ErrorBudget(self.error * weight / total, label)
            for label, weight in zip(labels, chosen, strict=True)
        )
        return self.parts

    @property
    def threshold(self) -> float:
        """The log evidence that refutes at this error: log(1 / error), rounded up (Ville)."""
        exact = math.log(self.error.denominator) - math.log(self.error.numerator)
        return exact * (1 + 1e-14)

    def __float__(self) -> float:
        """Return the largest double that is at most the exact error."""
        value = float(self.error)
        return value if Fraction(value) <= self.error else math.nextafter(value, 0.0)

    def tree(self) -> dict[str, Any]:
        """Return the shares as plain data: label, error, parts."""
        own: dict[str, Any] = {"label": self.label, "error": float(self)}
        return {**own, "parts": [part.tree() for part in self.parts]} if self.parts else own
