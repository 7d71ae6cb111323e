"""One-run audits are valid under exact privacy and find UCB; weighted runs know both sides."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.core.algorithms import load
from dpaudit.errors import InvalidArgument
from dpaudit.sample.boxes import DeclaredBox, PolicyBox
from dpaudit.sample.onerun import lower_bound, one_run_audit, p_value


def test_the_bound_inverts_the_p_value():
    for correct, guesses in ((90, 100), (300, 400), (55, 100)):
        bound = lower_bound(correct, guesses, 0.01)
        if bound > 0:
            assert p_value(correct, guesses, bound) == pytest.approx(0.01, rel=1e-6)
    assert lower_bound(50, 100, 0.01) == 0.0 == lower_bound(0, 0, 0.01)
    assert p_value(0, 10, 1.0) == 1.0


def test_coverage_of_the_bound_is_exact():
    for epsilon in (0.2, 1.0, 3.0):
        rate, counts = 1 / (1 + math.exp(-epsilon)), np.arange(61)
        above = np.array([lower_bound(int(k), 60, 0.05) > epsilon for k in counts])
        assert binom.pmf(counts, 60, rate)[above].sum() <= 0.05


def noisy_echo(epsilon: float):
    """Plays at step t + 1 the reward of step t through randomised response: epsilon-DP, tight."""

    def policy(stream, rng):
        flip = rng.random(len(stream)) < 1 / (1 + math.exp(epsilon))
        told = (stream >= 0.5) ^ flip
        return np.concatenate(([0], told[:-1])).astype(int)

    return PolicyBox("echo", lambda rng: policy, 2, 2000)


def test_a_tight_mechanism_is_not_refuted_and_ucb_is():
    """40 audits at error 0.01: more than 8 false alarms have probability below 1e-8."""
    echoes = [one_run_audit(noisy_echo(1.0), 1.0, 0.01, seed, 4) for seed in range(40)]
    assert sum(echo.refuted for echo in echoes) <= 8
    found = one_run_audit(DeclaredBox(load("ucb", arms=2), 4000), 0.1, 1e-3, 0)
    assert found.refuted and found.lower > 0.1
    assert found.correct <= found.guesses <= found.canaries == 4000


def test_the_guesser_learns_what_tells():
    """The ideal guesser is right in 73 % of all steps; its bound at 4,000 of them is 0.93."""
    box = replace(noisy_echo(1.0), horizon=4000)
    found = one_run_audit(box, 0.5, 0.05, 1, 10)
    assert found.guesses > 3900 and 0.70 < found.correct / found.guesses < 0.76
    assert found.lower > 0.8
    # a policy that ignores its rewards: whatever is guessed, nothing is concluded
    blind = PolicyBox("blind", lambda rng: lambda stream, rng: rng.integers(0, 2, 4000), 2, 4000)
    assert one_run_audit(blind, 0.5, 1e-6, 1, 10).lower == 0.0


def test_short_runs_are_refused():
    with pytest.raises(InvalidArgument, match="horizon=8"):
        one_run_audit(DeclaredBox(load("ucb", arms=2), 8), 1.0, 0.01, 0)
