"""A private index that saturates everywhere leaves no finite threshold to interpolate."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dpaudit.core.algorithm import Release, Rows
from dpaudit.core.algorithms.dp_klucb import DPKLUCB
from dpaudit.core.noise import Laplace
from dpaudit.exact import worst_loss
from dpaudit.exact.enumerate import worst_pair


@dataclass(frozen=True, kw_only=True)
class Overwritten(DPKLUCB):
    """DP-KLUCB whose register holds a single release: the sum so far."""

    def release(self, rows: Rows) -> Release:
        return Release(rows.arm, Rows(rows.arm, 0, rows.stop), Laplace(1))


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_the_search_agrees_with_brute_force_where_the_index_saturates(epsilon):
    algorithm = Overwritten(arms=2, epsilon=epsilon)
    found = worst_loss(algorithm, 3, streams="binary")
    brute = worst_pair(algorithm, 3, (0.0, 1.0)).loss
    assert found.loss.lower - 1e-9 <= brute <= found.loss.upper + 1e-9
