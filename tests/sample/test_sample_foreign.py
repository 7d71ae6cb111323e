"""Whose code is run decides whether its runs are made again."""

from dataclasses import dataclass

from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.sample.boxes import DeclaredBox, PolicyBox
from dpaudit.sample.independence import is_foreign


@dataclass(frozen=True, kw_only=True)
class Mine(AdapUCB):
    pass


def test_declarations_and_policies_of_ones_own_are_foreign():
    assert not is_foreign(DeclaredBox(load("adap_ucb", arms=2), 6))
    assert is_foreign(DeclaredBox(Mine(arms=2), 6))
    assert is_foreign(PolicyBox("policy", lambda rng: None, 2, 6))
