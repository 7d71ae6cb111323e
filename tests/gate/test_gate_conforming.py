"""A locked conformance: kept while the code is the declared algorithm, red at its first round."""

import json
from pathlib import Path

import pytest

from dpaudit.cli import run

PAGE = Path(__file__).parents[2] / "docs" / "foreign-code.md"
MINE = PAGE.read_text().partition("```python my_bandit.py\n")[2].partition("```")[0]


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("locked")
    (folder / "mine.py").write_text(MINE)
    words = ["--arms", "2", "--horizon", "12", "--lock", str(folder / "dpaudit.lock")]
    assert run(["lock", "mine.py:Policy", "--conforms", "adap_ucb", *words]) == 0
    return (folder / "dpaudit.lock").read_text()


@pytest.fixture
def project(tmp_path, monkeypatch, locked):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "dpaudit.lock").write_text(locked)
    return tmp_path


def change(project, before, after):
    assert before in MINE
    (project / "mine.py").write_text(MINE.replace(before, after))


def test_a_conformance_is_locked_kept_and_dropped(project, capsys):
    assert run(["gate"]) == 0
    out = capsys.readouterr().out
    claim = "mine.py:Policy conforms to adap_ucb arms=2 epsilon=1.0 horizon=12"
    assert f"CONFORMS {claim}" in out and "locked were" not in out  # as many decisions
    change(project, "import numpy as np", "import numpy as np  # fast")
    assert run(["gate"]) == 4
    assert "DPA005" in capsys.readouterr().out
    assert run(["lock", "--update"]) == 0
    assert run(["gate"]) == 0
    assert run(["lock", "--remove", claim]) == 4
    assert run(["lock", "--remove", claim, "--reason", "rewritten"]) == 0
    assert json.loads((project / "dpaudit.lock").read_text())["conforming"] == []


def test_the_gate_names_the_first_round_that_differs(project, capsys):
    change(
        project,
        "max(1, int(self.counts[self.arm]))",
        "max(1, int(self.counts[self.arm]) + (self.t > 2))",
    )
    before = (project / "dpaudit.lock").read_text()
    assert run(["gate", "--junit", "j.xml", "--sarif", "s.json"]) == 4
    out = capsys.readouterr().out
    # round 3 is an episode; the other arm's second one, too long by one, lasts rounds 4 and 5
    assert "DPA009 NoLongerConforms: DIFFERS: round 5 with 2 arms: the declaration decides" in out
    assert "on the path 0, 1 x2, 0 x2\n" in out or "on the path 0, 1, 0, 1 x2\n" in out
    assert 'failures="1"' in (project / "j.xml").read_text()
    found = json.loads((project / "s.json").read_text())["runs"][0]["results"]
    assert [it["ruleId"] for it in found] == ["DPA009"]
    assert run(["lock", "--update"]) == 1
    assert (project / "dpaudit.lock").read_text() == before


def test_what_is_gone_or_no_policy_costs_one_line(project, capsys):
    (project / "mine.py").unlink()
    assert run(["gate"]) == 4
    assert "DPA006 TargetVanished" in capsys.readouterr().out
    (project / "nope.py").write_text(
        "class Nope:\n    pass\n\n\ndef whole(stream, rng):\n    return stream\n"
    )
    (project / "broken.py").write_text("def policy(:\n")
    wrong = {
        ("adap_ucb", "missing.py:P"): "TARGET=missing.py:P cannot be loaded: there is no file",
        ("adap_ucb", "broken.py:P"): "TARGET=broken.py:P cannot be imported: SyntaxError",
        ("adap_ucb", "nope.py:P"): "No object in nope.py 'P'",
        ("adap_ucb", "nope.py:Nope"): "TARGET=nope.py:Nope is a Nope; only policies with",
        ("adap_ucb", "nope.py:whole"): "TARGET=nope.py:whole is a function of the whole stream",
        ("adap_ucc", "nope.py:Nope"): "No algorithm 'adap_ucc'. Did you mean 'adap_ucb'?",
        ("nope.py:Nope", "nope.py:Nope"): "DECLARATION=nope.py:Nope is a Nope, not an Algorithm",
    }
    for (declaration, target), line in wrong.items():
        assert run(["conform", declaration, target]) == 2
        said = capsys.readouterr().err
        assert line in said and said.count("\n") == 1


def test_parameters_of_the_declaration_are_compared_and_locked(project, capsys):
    words = ["--horizon", "12", "--param"]
    assert run(["conform", "adap_ucb", "mine.py:Policy", *words, "alpha=2"]) == 1
    assert "(2 arms, epsilon = 1, alpha = 2)\n  round " in capsys.readouterr().out
    assert run(["conform", "adap_ucb", "mine.py:Policy", *words, "arms=3"]) == 2
    assert "param=arms has an option of its own: --arms." in capsys.readouterr().err
    claim = "mine.py:Policy conforms to adap_ucb arms=2 epsilon=1.0 horizon=12 alpha=3.1"
    assert run(["lock", "mine.py:Policy", "--conforms", "adap_ucb", *words, "alpha=3.1"]) == 0
    kept = json.loads((project / "dpaudit.lock").read_text())["conforming"]
    assert {it["claim"]: it.get("given") for it in kept}[claim] == {"alpha": "3.1"}
    assert run(["gate", claim]) == 0
    assert f"CONFORMS {claim}" in capsys.readouterr().out
