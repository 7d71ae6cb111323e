"""The declaration read off code: its likelihoods against closed forms, runs and declarations."""

import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import dpaudit
from dpaudit.affine import judged
from dpaudit.cli import run
from dpaudit.exact import likelihood, worst_loss
from dpaudit.symbolic.declared import read_off
from dpaudit.symbolic.subject import CodeTarget
from dpaudit.verdict import Status

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "foreign-code.md").read_text()
ADAP_UCB = PAGE.partition("```python my_bandit.py\n")[2].partition("```")[0]
FAULTS = ROOT / "benchmarks" / "faults"
sys.path.insert(0, str(FAULTS))
import right  # noqa: E402
import wrong  # noqa: E402


def of(module, name, rounds, arms=2):
    return read_off(CodeTarget(f"{FAULTS / module}.py:{name}", arms, 1000, 1.0), rounds)[0]


def probability(algorithm, actions, rewards):
    found = likelihood(algorithm, actions, rewards)
    assert found.certified
    return math.exp((found.log_lower + found.log_upper) / 2)


@pytest.mark.parametrize("arms", [2, 3])
def test_an_ordinary_adap_ucb_has_the_likelihoods_of_the_declared_one(tmp_path, arms):
    (tmp_path / "mine.py").write_text(ADAP_UCB)
    mine, _ = read_off(CodeTarget(f"{tmp_path / 'mine.py'}:Policy", arms, 1000, 1.0), 64)
    declared = dpaudit.load("adap_ucb", arms=arms, epsilon=1.0)
    rng = np.random.default_rng(5)
    for tail in ([0, 1], [1, 0, 0], [1, 1, 1, 0], [0, 1, 0, 0]):
        actions = [*range(arms), *tail]
        rewards = rng.random(len(actions)).tolist()
        one, other = likelihood(mine, actions, rewards), likelihood(declared, actions, rewards)
        assert one.log_lower == pytest.approx(other.log_lower, abs=1e-12)
    if arms == 2:
        one, other = worst_loss(mine, 5).loss, worst_loss(declared, 5).loss
        assert (one.certified, one.lower) == (True, pytest.approx(other.lower, abs=1e-12))


def test_the_first_decision_has_the_closed_form_of_two_laplace_draws():
    # Doubling at round 3: r0 + z0 against r1 + z1, scale 1, equal bonuses. The difference of two
    # draws exceeds d >= 0 with probability (2 + d) exp(-d) / 4.
    algorithm = of("right", "Doubling", 3)
    for first, second in ((1.0, 0.0), (0.7, 0.4), (0.5, 0.5)):
        d = first - second
        wanted = 1 - (2 + d) * math.exp(-d) / 4
        found = probability(algorithm, (0, 1, 0), (first, second, 0.0))
        assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("name", ["RootOfTwo", "WrongCount"])
def test_likelihoods_are_the_frequencies_of_real_runs(name):
    runs, rounds, rewards = 6000, 4, (1.0, 0.0, 0.0, 1.0)
    algorithm = of("wrong", name, rounds)
    np.random.seed(16)  # noqa: NPY002  the policies draw from it
    seen = {}
    for _ in range(runs):
        policy = getattr(wrong, name)(arms=2, epsilon=1.0)
        actions = []
        for reward in rewards:
            actions.append(int(policy.select()))
            policy.update(actions[-1], reward)
        seen[tuple(actions)] = seen.get(tuple(actions), 0) + 1
    # Hoeffding with error 1e-8 for each of 16 sequences and 2 policies: below 1e-6 in all
    margin = math.sqrt(math.log(2 / 1e-8) / (2 * runs))
    total = 0.0
    for actions in itertools.product((0, 1), repeat=rounds):
        share = seen.get(actions, 0) / runs
        if actions[:2] != (0, 1):
            assert share == 0
            continue
        found = probability(algorithm, actions, rewards)
        assert abs(found - share) <= margin
        total += found
    assert total == pytest.approx(1, abs=1e-9)


REFUTED = {"WrongCount": 4, "SharedAcrossArms": 3}


@pytest.mark.parametrize("name", REFUTED)
def test_wrong_code_is_refuted_with_likelihoods(name):
    found = judged(
        CodeTarget(f"{FAULTS}/wrong.py:{name}", 2, 1000, 1.0), getattr(wrong, name), 30.0
    )
    assert found.status is Status.REFUTED and found.certified
    assert found.witness is not None and found.witness.loss.lower > 1
    assert found.horizon <= REFUTED[name] and "of 400 runs of the code" in found.reason


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("Local", "Response", "Clipped")]


@pytest.mark.parametrize("name", ["Doubling", "Commit", *SLOW])
def test_right_code_is_never_refuted(name):
    found = judged(CodeTarget(f"{FAULTS}/right.py:{name}", 2, 1000, 1.0), getattr(right, name), 1.0)
    assert found.status in (Status.HOLDS, Status.SILENT)
    assert found.epsilon_lower <= 1


def test_what_a_declaration_cannot_say_is_not_read(tmp_path):
    for name, why in (
        ("SharedAcrossTime", "uses noise again"),
        ("NormalNoise", "its noise is normal"),
        ("RawVariance", "no comparison of affine values"),
    ):
        algorithm, reading = read_off(CodeTarget(f"{FAULTS}/wrong.py:{name}", 2, 1000, 1.0), 12)
        with pytest.raises(dpaudit.errors.DpauditError):
            worst_loss(algorithm, 12)
        assert why in reading.stopped


def test_the_command_refutes_and_the_witness_is_replayed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("right.py", "wrong.py"):
        (tmp_path / name).write_text((FAULTS / name).read_text())
    assert run(["check", "wrong.py:RootOfTwo", "--method", "exact"]) == 1  # without a proof's lead
    assert "exact      REFUTED" in capsys.readouterr().out
    assert run(["check", "wrong.py:RootOfTwo", "--witness", "w.json"]) == 1
    out = capsys.readouterr().out
    assert (
        "exact      REFUTED" in out and "dpaudit replay w.json --target wrong.py:RootOfTwo" in out
    )
    assert run(["replay", "w.json", "--target", "wrong.py:RootOfTwo"]) == 0
    assert "CONFIRMED" in capsys.readouterr().out
    assert run(["replay", "w.json", "--target", "wrong.py:WrongCount"]) == 2
    data = json.loads((tmp_path / "w.json").read_text())
    for bad in ({"arms": 10**9, "horizon": 1000}, {"arms": 2}, {"arms": 2, "horizon": 1}):
        (tmp_path / "bad.json").write_text(json.dumps(data | {"parameters": bad}))
        assert run(["replay", "bad.json", "--target", "wrong.py:RootOfTwo"]) == 2
