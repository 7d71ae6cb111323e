"""`explain --graph`: the graph has every public state, and the picture can be read."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from dpaudit.cli import run
from dpaudit.core.algorithm import Choose, Keep, Stop, Toss
from dpaudit.core.algorithms import find, load, names, parameters
from dpaudit.core.stream import StreamRewards
from dpaudit.explain.diagram import boxes
from dpaudit.explain.record import RecordedDecision, RecordedPlay, Recorder
from dpaudit.explain.states import explore
from dpaudit.structure.walk import Walk


def built(name: str, horizon: int, arms: int):
    needs = {"horizon": horizon} if "horizon" in parameters(find(name)) else {}
    return load(name, arms=arms, **needs)


ENDLESS = ("ucb", "kl_ucb", "adac_ucb", "zcdp_se")  # charges of epsilon are infinite: a walk stops


@pytest.mark.parametrize("name", [name for name in names() if name not in ENDLESS])
def test_the_forks_are_the_model_checkers_questions(name):
    """Another walk over the same declaration meets the same questions at the same places."""
    algorithm, horizon = built(name, 9, 2), 9
    walk = Walk(algorithm, horizon)
    walk.run(math.inf, math.inf)
    asked = {
        (node.place.time, node.place.pulls, type(node.place.request))
        for node, _ in walk.seen.values()
        if isinstance(node.place.request, Choose | Keep | Toss | Stop)
    }
    graph = explore(algorithm, horizon, math.inf)
    words = {"chooses": Choose, "keeps": Keep, "tosses": Toss, "stops": Stop}
    forks = [f for f in graph.forks if f.asks != "begins"]
    assert {(f.time, f.pulls, words[f.asks.split()[0]]) for f in forks} == asked
    assert graph.left == 0 and not graph.note


@pytest.mark.parametrize("name", ["adap_klucb", "dp_se", "adap_tt", "dp_greedy", "adac_ucb"])
def test_every_run_is_a_path_of_the_graph(name):
    arms, horizon = 2, 4000 if name == "dp_se" else 20
    algorithm = built(name, horizon, arms)
    graph = explore(algorithm, horizon, math.inf)
    forks: dict = {}
    for fork in graph.forks:
        answers = forks.setdefault((fork.time, fork.pulls), set())
        answers |= {way.answer for way in fork.ways}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        stream = rng.integers(0, 2, horizon).astype(float)
        pulls = [0] * arms
        for event in Recorder(algorithm, horizon, StreamRewards(stream, arms), rng).run():
            if isinstance(event, RecordedPlay):
                pulls[event.arm] += len(event.rounds)
            elif isinstance(event, RecordedDecision):
                wins = ", ".join(map(str, event.outcome))
                answers = forks[event.time - 1, tuple(pulls)]
                assert {f"arm {wins}", f"keeps {wins}"} & answers


def test_a_way_tells_plays_releases_and_charges(capsys):
    assert run(["explain", "adap_ucb", "--graph", "--horizon", "6"]) == 0
    out = capsys.readouterr().out
    assert (
        "[3] after 3 rounds, pulls 2 / 1: chooses one of arms 0, 1\n"
        "    plays arm 0 for 2 rounds; releases mean of its rewards 3..4 + Laplace(0.5),\n"
        "      charge 1 -> [6]\n"
    ) in out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert run(["explain", "adac_ucb", "--graph"]) == 0
    assert "charge 0.5" in capsys.readouterr().out  # rho, not an infinite epsilon
    assert run(["explain", "ldp_ucb_b", "--graph"]) == 0
    assert "answers at random for its reward 1" in capsys.readouterr().out


def test_a_large_graph_is_cut_and_says_so(capsys):
    assert run(["explain", "adap_ucb", "--arms", "3", "--horizon", "100", "--graph"]) == 0
    out = capsys.readouterr().out
    assert "Cut after 11 states, at round 6: 10 more follow at once." in out
    assert "charge 1 -> ..." in out
    graph = explore(load("adap_ucb", arms=3), 100)
    assert sum(len(fork.ways) for fork in graph.forks) <= 32


@pytest.mark.parametrize(("name", "arms", "horizon"), [("adap_ucb", 2, 12), ("adap_tt", 3, 12)])
def test_no_box_lies_on_another(name, arms, horizon):
    placed = boxes(explore(load(name, arms=arms), horizon))
    for a, b in combinations(placed, 2):
        apart = abs(a.x - b.x) >= (a.width + b.width) / 2 - 1e-9
        assert apart or abs(a.y - b.y) >= (a.height + b.height) / 2
        assert all(other.y > box.y for box in (a, b) for other in box.above)


def test_picture_of_ones_own_and_of_code(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from dpaudit.core.algorithms.adap_ucb import AdapUCB\n\n\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Mine(AdapUCB):\n    pass\n"
    )
    assert run(["explain", "mine.py:Mine", "--graph", "--plot", "states.svg"]) == 0
    assert "14] after 10 rounds" in capsys.readouterr().out
    assert (tmp_path / "states.svg").read_text().count("<path") > 50
    (tmp_path / "policy.py").write_text(
        "import numpy as np\n\n\n"
        "class Code:\n"
        "    def __init__(self, arms, epsilon):\n"
        "        self.means, self.t, self.epsilon = np.zeros(arms), 0, epsilon\n\n"
        "    def select(self):\n"
        "        return self.t if self.t < len(self.means) else int(np.argmax(self.means))\n\n"
        "    def update(self, arm, reward):\n"
        "        if self.t < len(self.means):\n"
        "            self.means[arm] = reward + np.random.laplace(0, 1 / self.epsilon)\n"
        "        self.t += 1\n"
    )
    assert run(["explain", "policy.py:Code", "--graph", "--horizon", "3"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "releases reward 1 of arm 0 + Laplace(1), charge 1;" in out


def test_a_plot_needs_the_graph(capsys):
    assert run(["explain", "adap_ucb", "--plot", "a.svg"]) == 2
    assert capsys.readouterr().err == "dpaudit: plot=a.svg is for --graph.\n"
