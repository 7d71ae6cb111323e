"""The details of a page against other ways to the same numbers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from dpaudit.cli import run
from dpaudit.core.algorithms import load
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.environments import of_means
from dpaudit.core.notions import Stated
from dpaudit.core.simulate import simulate
from dpaudit.details import losses, pair, regret
from dpaudit.details.compute import details, ladder, settled
from dpaudit.errors import Contradiction
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.enumerate import worst_pair
from dpaudit.exact.paths import all_paths
from dpaudit.exact.worst import every_step
from dpaudit.judging import Report, claim_of
from dpaudit.target import resolve
from dpaudit.verdict import Finding, Status

FAR = 1e9


def later() -> float:
    return time.monotonic() + FAR


def adap_ucb(horizon: int) -> AdapUCB:
    return load("adap_ucb", arms=2)


def test_loss_by_position_agrees_with_brute_force():
    """The largest over positions is epsilon* of binary streams, found by plain enumeration."""
    found, _ = losses.by_position(adap_ucb, [5], None, later())
    oracle = worst_pair(load("adap_ucb", arms=2), 5, (0.0, 1.0))
    assert len(found.losses) == 5
    assert max(found.losses) == pytest.approx(oracle.loss, abs=1e-9)
    assert found.losses[4] == 0  # the last reward is never released


def test_loss_by_position_agrees_with_loss_by_episode():
    found, _ = losses.by_position(adap_ucb, [5], None, later())
    steps = list(every_step(load("adap_ucb", arms=2), 5, "binary"))
    first = {0: 0.0, 1: 0.0}
    for _, region, episode, loss in steps:
        rows = region.episodes[episode].rows
        if rows.first == 0:
            first[rows.arm] = max(first[rows.arm], loss)
    # the first two rounds are the first reward of each arm, on every path
    assert found.losses[0] == pytest.approx(first[0], abs=1e-12)
    assert found.losses[1] == pytest.approx(first[1], abs=1e-12)
    assert max(found.losses) == pytest.approx(max(loss for *_, loss in steps), abs=1e-12)


def test_without_the_theorem_one_action_sequence_is_followed():
    build = lambda horizon: load("ucb", arms=2)  # noqa: E731
    witness = worst_loss(build(3), 3, streams="binary").witness
    found, _ = losses.by_position(build, [3], witness, later())
    assert "worst action sequence" in found.covers
    assert found.losses[witness.position] == math.inf
    nothing, reason = losses.by_position(build, [3], None, later())
    assert nothing is None and "full support" in reason


def test_a_violation_longer_than_the_search_is_followed():
    witness = worst_loss(adap_ucb(5), 5, streams="binary").witness
    violation = replace(witness, epsilon=0.1)
    found, _ = losses.by_position(adap_ucb, [3], violation, later())
    assert "worst action sequence" in found.covers and len(found.losses) == 5
    assert found.losses[witness.position] == pytest.approx(witness.loss.lower, abs=1e-9)
    found, _ = losses.by_position(adap_ucb, [3], replace(witness, epsilon=5.0), later())
    assert len(found.losses) == 3


def test_the_deadline_is_kept():
    found, reason = losses.by_horizon(adap_ucb, 2, 100, time.monotonic() - 1)
    assert found == [] and "budget" in reason
    positions, _ = losses.by_position(adap_ucb, [6], None, time.monotonic() - 1)
    assert positions is None


def test_losses_of_an_anytime_algorithm_never_fall():
    build = lambda horizon: load("lazy_dp_ucb", arms=2)  # noqa: E731
    found, _ = losses.by_horizon(build, 2, 8, later())
    shown = losses.points(found, anytime=True)
    lowers = [one.lower for one in shown]
    assert [one.horizon for one in shown] == [3, 4, 5, 6, 7, 8] and lowers == sorted(lowers)
    assert all(one.upper == math.inf for one in shown if not one.certified)


def test_profile_agrees_with_a_sum_over_action_sequences():
    """delta(epsilon) and the trade-off curve again, by hand from single likelihoods."""
    algorithm, horizon = load("adap_ucb", arms=2), 5
    witness = worst_loss(algorithm, horizon, streams="binary").witness
    found, _ = pair.of_worst_pair([(algorithm, witness)], 0.5, later())
    sequences = [path.actions for path in all_paths(algorithm, horizon)]
    p = [likelihood(algorithm, a, witness.stream, "float").middle for a in sequences]
    q = [likelihood(algorithm, a, witness.neighbour, "float").middle for a in sequences]
    both = list(zip(p, q, strict=True))
    assert found.sequences == len(sequences)
    assert 0.5 in found.epsilons
    rows = zip(found.epsilons, found.delta, found.delta_neighbour, strict=True)
    for epsilon, delta, back in rows:
        e = math.exp(epsilon)
        assert delta == pytest.approx(sum(max(0, a - e * b) for a, b in both), abs=1e-9)
        assert back == pytest.approx(sum(max(0, b - e * a) for a, b in both), abs=1e-9)
    corners = list(zip(found.alpha, found.beta, strict=True))
    for weight in (0.5, 2.0):  # the least alpha + weight beta of any test is the sum of minima
        least = min(alpha + weight * beta for alpha, beta in corners)
        assert least == pytest.approx(sum(min(a, weight * b) for a, b in both), abs=1e-9)


def test_regret_is_the_simulators(monkeypatch):
    monkeypatch.setattr(regret, "HORIZONS", (1000,))
    found, _ = regret.regret(adap_ucb, 1.0, 7, later())
    again = simulate(load("adap_ucb", arms=2), of_means(found.means), 1000, regret.RUNS, 7)
    assert found.mean[-1] == pytest.approx(float(again.regrets.mean()))
    assert found.upper[-1] >= found.mean[-1]  # 1000 rounds: the bound is far above
    assert list(found.times) == sorted(set(found.times)) and found.times[-1] == 1000
    assert np.all(np.diff(found.upper) >= 0)


@dataclass(frozen=True, kw_only=True)
class Heir(AdapUCB):
    """A subclass must not inherit the bounds that were proved for its parent."""

    @property
    def name(self) -> str:
        return "adap_ucb"


def test_only_the_very_class_has_bounds(monkeypatch):
    monkeypatch.setattr(regret, "HORIZONS", (1000,))
    found, _ = regret.regret(lambda horizon: Heir(arms=2), 1.0, 0, later())
    assert found.upper == () and found.finite_lower is None


def test_what_is_missing_says_why():
    target = resolve("lazy_dp_ts")
    algorithm = target.build(100, {}, {"arms": 3})
    claim = claim_of(target, algorithm, 100, Stated())
    found = details(ladder(claim, 2.0, 0), (), 2.0, 0, "command")
    assert found.profile is None and "BetaDraw" in found.missing["losses"]
    assert set(found.missing) >= {"losses", "profile", "positions"}


def test_another_epsilon_reaches_the_details(monkeypatch):
    """The judged parameters are used, not the defaults."""
    monkeypatch.setattr(regret, "HORIZONS", (1000,))
    monkeypatch.setattr(losses, "LARGEST", 4)
    target = resolve("adap_ucb")
    algorithm = target.build(100, {"epsilon": 2.0}, {"arms": 2})
    judged = claim_of(target, algorithm, 100, Stated())
    claim = replace(judged, parameters={"arms": 2, "epsilon": 2.0})
    found = details(ladder(claim, FAR, 0), (), FAR, 0, "command")
    # the closed form at T = 3: epsilon/2 - log(1 + epsilon/4)
    assert found.losses[0].lower == pytest.approx(1 - math.log(1.5), abs=1e-9)


def test_a_part_that_breaks_is_named(monkeypatch):
    def broken(*arguments):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(losses, "by_horizon", broken)
    monkeypatch.setattr(regret, "regret", broken)
    target = resolve("adap_ucb")
    claim = claim_of(target, target.build(100, {}, {"arms": 2}), 100, Stated())
    found = details(ladder(claim, 1.0, 0), (), 1.0, 0, "command")
    assert found.missing["losses"] == "a bug in dpaudit ended it (ZeroDivisionError: oh)."
    assert found.regret is None and "regret" in found.missing


def test_a_drawn_loss_above_the_claim_is_a_refutation(tmp_path, monkeypatch, capsys):
    """Verdict, terminal and page are of one truth, whatever the checks had time to see."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(regret, "HORIZONS", (1000,))
    monkeypatch.setattr(losses, "LARGEST", 4)
    asked = ["check", "mutants/noise_099", "--method", "structure", "--budget", "200"]
    assert run(asked) == 3
    capsys.readouterr()
    assert run([*asked, "--html", "page.html", "--witness", "w.json"]) == 1
    shown, page = capsys.readouterr().out, Path("page.html").read_text()
    assert "  exact      REFUTED  1.0101010" in shown and "\nREFUTED: noise_099" in shown
    assert "REFUTED" in page and "The witness" in page
    assert run(["replay", "w.json"]) == 0
    assert "CONFIRMED" in capsys.readouterr().out


def test_a_drawn_loss_contradicts_a_proof():
    target = resolve("mutants/noise_080")
    claim = claim_of(target, target.build(100, {}, {"arms": 2}), 4, Stated())
    proof = Finding("structure", Status.PROVED, "Wrongly.", horizon=4, arms=2)
    with pytest.raises(Contradiction):
        settled(Report(Status.PROVED, claim, (proof,), covered=4), ladder(claim, FAR, 0))
