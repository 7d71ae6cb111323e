"""Structure under every notion: sums over all transcripts against the claim."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import pytest

from dpaudit import load
from dpaudit.core.algorithms.adac_ucb import AdacUCB
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.conversions import gdp_to_delta, laplace_to_delta, zcdp_to_delta
from dpaudit.core.episodes import CumulativeBatches
from dpaudit.core.noise import Laplace
from dpaudit.core.notions import Kind, Notion, Tariff
from dpaudit.core.scores import Affine
from dpaudit.structure.accounting import judge
from dpaudit.structure.prove import bound
from dpaudit.structure.tree import most_nodes
from dpaudit.verdict import Status


def upper(algorithm, notion, horizon=300):
    found = judge(algorithm, horizon, notion)
    return found.status, found.bracket.upper


def test_adac_ucb_is_charged_rho():
    adac = AdacUCB(arms=2, rho=0.5)
    assert adac.claim.notion == Notion(Kind.ZCDP, 0.5) and adac.claim.epsilon is None
    assert upper(adac, Notion(Kind.ZCDP, 0.5)) == (Status.PROVED, 0.5)
    assert upper(adac, Notion(Kind.ZCDP, 0.49)) == (Status.SILENT, 0.5)
    assert upper(adac, Notion(Kind.GDP, 1.0)) == (Status.PROVED, 1.0)
    assert upper(adac, Notion(Kind.PURE, 100.0, unit=2))[0] is Status.SILENT
    first = bound(adac, 2, tariff=Tariff(Kind.ZCDP))
    assert first.charge == Fraction(1, 8)  # one release of one pull, under n = 1/2


def test_mu_is_compared_as_mu_and_not_as_its_square():
    adac = AdacUCB(arms=2, rho=0.15)  # mu^2 = 0.3, mu = 0.5477...
    assert upper(adac, Notion(Kind.GDP, 0.5))[0] is Status.SILENT
    assert upper(adac, Notion(Kind.GDP, 0.55))[0] is Status.PROVED


def test_a_charge_above_the_claim_by_less_than_a_double_shows_is_not_proved():
    @dataclass(frozen=True, kw_only=True)
    class Barely(AdapUCB):
        more: Fraction = Fraction(0)

        def release(self, rows):
            right = super().release(rows)
            return replace(right, noise=Laplace(right.noise.scale / (1 + self.more)))

    claim = Notion(Kind.PURE, 2.0, unit=2)
    assert upper(Barely(arms=2), claim) == (Status.PROVED, 2.0)
    assert upper(Barely(arms=2, more=Fraction(1, 10**30)), claim)[0] is Status.SILENT


def test_delta_is_that_of_the_one_release():
    adac, adap = AdacUCB(arms=2, rho=0.5), AdapUCB(arms=2, epsilon=1.0)
    exact = float(gdp_to_delta(Fraction(1), Fraction(1)))
    for delta, status in ((exact + 1e-6, Status.PROVED), (exact - 1e-6, Status.SILENT)):
        found = judge(adac, 300, Notion(Kind.APPROXIMATE, 1.0, delta))
        assert found.status is status
        assert found.bracket.upper == pytest.approx(exact, rel=1e-12)
        assert "enters one release" in found.reason
    found = judge(adap, 300, Notion(Kind.APPROXIMATE, 0.5, 0.3))
    assert found.bracket.upper == pytest.approx(1 - math.exp(-0.25), rel=1e-12)
    assert judge(adap, 300, Notion(Kind.APPROXIMATE, 1.0, 1e-9)).bracket.upper == 0


def test_a_row_in_several_releases_gets_the_best_sum():
    tree = DPUCB(arms=2, horizon=100, epsilon=1.0)
    found = judge(tree, 100, Notion(Kind.APPROXIMATE, 0.5, 0.5))
    by_sum = laplace_to_delta(Fraction(1), Fraction(1, 2))
    assert found.bracket.upper < by_sum
    node, at = Laplace(tree.levels), Fraction(1, 2)
    ways = {
        "Renyi": zcdp_to_delta(tree.levels * node.zcdp(Fraction(1)), at),
        "squares of mu": gdp_to_delta(tree.levels * node.gdp(Fraction(1)), at),
    }
    assert found.bracket.upper == pytest.approx(float(min(ways.values())))
    best, other = sorted(ways, key=lambda name: ways[name])
    assert found.reason.index(best) < found.reason.index("Next best") < found.reason.index(other)


@dataclass(frozen=True, kw_only=True)
class EveryReward(CumulativeBatches):
    """Local noise: each pull is an episode of its own."""

    def episode_length(self, pulls):
        return 1

    def rule(self, pulls, time, m):
        return Affine(m.sqrt(m.log(time) / pulls), scale=1 / pulls)


def test_local_means_that_every_release_reads_one_reward():
    local, central = EveryReward(arms=2, epsilon=1.0), AdapUCB(arms=2, epsilon=1.0)
    assert upper(local, Notion(Kind.LOCAL, 1.0), 40) == (Status.PROVED, 1.0)
    assert upper(local, Notion(Kind.LOCAL, 0.99), 40)[0] is Status.SILENT
    found = judge(central, 40, Notion(Kind.LOCAL, 1.0))
    assert found.status is Status.SILENT and "infinity" in found.reason


@pytest.mark.parametrize("kind", [Kind.PURE, Kind.ZCDP, Kind.GDP])
@pytest.mark.parametrize("name", ["adap_ucb", "adac_ucb", "dp_se"])
def test_a_group_pays_at_most_as_group_privacy_says(name, kind):
    """At most k times for losses, k^2 times for divergences and squares of mu, and never less."""
    algorithm = load(name, arms=2, **({"horizon": 40} if name.startswith("dp") else {}))
    one = bound(algorithm, 40, tariff=Tariff(kind)).charge
    for unit in (2, 3, 5):
        group = bound(algorithm, 40, tariff=Tariff(kind, unit)).charge
        power = 1 if kind is Kind.PURE else 2
        assert one <= group <= unit**power * one


def test_a_pure_claim_of_one_reward_is_the_old_proof():
    algorithm = AdapUCB(arms=2)
    plain = Notion(Kind.PURE, 1.0)
    assert plain.plain and not replace(plain, unit=2).plain
    assert upper(algorithm, replace(plain, level=2.0, unit=2)) == (Status.PROVED, 2.0)


@pytest.mark.parametrize("arms", [2, 3])
@pytest.mark.parametrize("unit", [2, 3, 4])
def test_a_trees_group_is_bounded_by_every_split_of_the_pulls(arms, unit):
    """Against the depth of every row, at every way to share the rounds between the arms."""

    def depths(pulls):
        nodes = [(n - (n & -n), n) for n in range(1, pulls + 1)]
        return [sum(first <= row < stop for first, stop in nodes) for row in range(pulls)]

    for horizon in (4, 7, 9, 18):
        rounds, worst = horizon - 1, 0
        for split in product(range(rounds + 1), repeat=arms):
            if sum(split) <= rounds:
                every = sorted((d for pulls in split for d in depths(pulls)), reverse=True)
                worst = max(worst, sum(every[:unit]))
        found = most_nodes(horizon, arms, unit)
        assert worst <= found <= worst + (unit if horizon < 8 else 1)


@pytest.mark.slow
def test_a_group_of_a_tree_pays_less_than_group_privacy_says():
    tree = DPUCB(arms=2, horizon=10**5)
    one = bound(tree, 10**5).charge
    three = bound(tree, 10**5, tariff=Tariff(Kind.PURE, 3)).charge
    assert one == 1 and three == Fraction(3 * tree.levels - 2, tree.levels)
