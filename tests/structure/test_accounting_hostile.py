"""Laws and declarations that would like to be charged less, and careless ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from dpaudit.core.algorithm import Rows
from dpaudit.core.algorithms.adac_ucb import AdacUCB
from dpaudit.core.noise import Gaussian, Laplace
from dpaudit.core.notions import Kind, Notion, Tariff
from dpaudit.structure.accounting import judge
from dpaudit.verdict import Status

RHO = Notion(Kind.ZCDP, 0.5)


class Cheap(Gaussian):
    """A law that says of itself that it costs nothing."""

    def zcdp(self, sensitivity):
        return Fraction(0)

    gdp = zcdp


def shadowed(right):
    object.__setattr__(right.noise, "zcdp", lambda sensitivity: Fraction(0))
    return right


def negative(right):
    object.__setattr__(right.noise, "variance", -1.0)
    return right


@dataclass(frozen=True, kw_only=True)
class Hostile(AdacUCB):
    """AdaC-UCB whose releases are replaced."""

    trick: str = ""

    def release(self, rows):
        right = super().release(rows)
        match self.trick:
            case "subclass":
                return replace(right, noise=Cheap(variance=right.noise.variance))
            case "shadowed":
                return shadowed(right)
            case "negative":
                return negative(right)
            case "late":
                return replace(right, divisor=1) if rows.stop > 64 else right
            case "twice":
                return replace(right, rows=Rows(rows.arm, 0, rows.stop))
        return right


@pytest.mark.parametrize("trick", ["subclass", "shadowed", "negative", "late", "twice"])
@pytest.mark.parametrize("kind", [Kind.ZCDP, Kind.GDP, Kind.APPROXIMATE])
def test_no_trick_is_proved(trick, kind):
    notion = Notion(kind, 1.0, 0.2 if kind is Kind.APPROXIMATE else None)
    notion = RHO if kind is Kind.ZCDP else notion
    found = judge(Hostile(arms=2, trick=trick), 500, notion)
    assert found.status is Status.SILENT


def test_the_same_without_a_trick_is():
    assert judge(Hostile(arms=2), 500, RHO).status is Status.PROVED


def test_a_claim_a_hair_below_the_charge_is_not_proved():
    level = math.nextafter(0.5, 0.0)
    assert judge(AdacUCB(arms=2), 500, Notion(Kind.ZCDP, level)).status is Status.SILENT
    assert judge(AdacUCB(arms=2, rho=level), 500, RHO).status is Status.PROVED


def test_a_budget_that_ends_proves_no_more_than_it_saw():
    found = judge(AdacUCB(arms=2), 10**7, RHO, 0.0)
    assert found.status is Status.SILENT or found.horizon < 10**7


def test_a_group_larger_than_a_release_pays_for_what_the_release_holds():
    laplace = Laplace(1)
    for rows in (1, 2, 5):
        tariff = Tariff(Kind.ZCDP, 4)
        whole = rows * tariff.price(laplace, Fraction(1), rows)
        assert whole >= laplace.zcdp(Fraction(min(rows, 4))) * (rows / min(rows, 4)) * (1 - 1e-12)
