"""Mutants that no test can kill, each with the reason: they conclude the same, or less.

Keys are those of `operators.Mutant`: module, function, the changed lines before and after.
"""

from __future__ import annotations

EQUIVALENT: dict[str, str] = {}
