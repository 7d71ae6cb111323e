"""The published schemas: in step with the types, and what dpaudit writes fits them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
from gate_samples import command
from schema_checks import json_errors

from dpaudit import verify
from dpaudit.documents import SCHEMAS

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"


def published_schema(kind):
    return json.loads((FOLDER / f"{kind}.json").read_text())


def misfits(kind, value):
    return json_errors(value, FOLDER / f"{kind}.json")


def test_the_files_are_what_the_types_say(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER.parent)
    made = importlib.import_module("schemas.build").published()
    assert {path.stem for path in FOLDER.glob("*.json")} == set(made) == set(SCHEMAS)
    for kind, schema in made.items():
        assert json.loads(json.dumps(schema)) == published_schema(kind), "docs/schemas/build.py"


@pytest.mark.parametrize("words", [("ucb", "--details"), ("adap_ucb",), ("dp_se", "--arms", "3")])
def test_reports_and_witnesses(project, capsys, words):
    sizes = ("--horizon", "60", "--exact-horizon", "4", "--method", "structure,exact")
    outputs = ("--json", "report.json", "--witness", "witness.json", "--budget", "3")
    code = command(capsys, "check", *words, *sizes, *outputs)[0]
    assert code in (0, 1, 3)
    report = json.loads((project / "report.json").read_text())
    assert not misfits("report", report)
    assert misfits("report", report | {"verdict": "PRIVATE"})
    if code == 1:
        witness = json.loads((project / "witness.json").read_text())
        assert list(witness)[:2] == ["dpaudit", "schema"]
        assert not misfits("witness", witness)
        assert misfits("witness", witness | {"actions": ["0"]})
        assert misfits("witness", witness | {"more": 1})


def test_locks(locked):
    data = json.loads(locked.read_text())
    assert not misfits("lock", data)
    assert misfits("lock", data | {"schema": 1})
    del data["claims"][0]["sources"]
    assert misfits("lock", data)


def test_audits_logs_and_pairs(project, capsys):
    words = ("audit", "mine.py:Greedy", "--horizon", "6", "--runs", "800")
    code, _, err = command(capsys, *words, "--json", "audit.json", "--log", "audit.log")
    assert (code, err) == (1, "")
    report = json.loads((project / "audit.json").read_text())
    assert not misfits("audit", report)
    lines = (project / "audit.log").read_text().splitlines()
    assert len(lines) > 1 and not any(misfits("log", json.loads(line)) for line in lines)
    assert json.loads(lines[0])[1]["schema"] == SCHEMAS["log"]
    assert misfits("log", ["audit"])
    pair = report["witness"]["pair"]
    assert not misfits("pair", {"dpaudit": "pair", "schema": 1, **pair})
    assert not misfits("pair", {"stream": [0, 1, 0.5], "neighbour": [0, 0, 0.5]})
    assert misfits("pair", {"stream": "0 1", "neighbour": [0, 0]})


def written(project, capsys, kind, *words):
    code = command(capsys, *words)[0]
    assert code in (0, 1)
    data = json.loads((project / words[-1]).read_text())
    assert list(data)[:2] == ["dpaudit", "schema"] and data["dpaudit"] == kind
    assert not misfits(kind, data)
    assert misfits(kind, data | {"schema": 99})
    return data


@pytest.mark.parametrize("name", ["adap_ucb", "adap_tt", "dp_ucb"])
def test_certificates_of_declarations(project, capsys, name):
    words = ("check", name, "--method", "structure", "--horizon", "2000", "--certificate", "c.json")
    data = written(project, capsys, "certificate", *words)
    assert misfits("certificate", data | {"charge": 1})
    assert SCHEMAS["certificate"] == verify.SCHEMA


def test_certificates_of_code(project, capsys):
    (project / "own.py").write_text(
        "import numpy as np\n\n\nclass Own:\n"
        "    def select(self):\n        return 0\n\n"
        "    def update(self, arm, reward):\n        pass\n"
    )
    words = ("check", "own.py:Own", "--epsilon", "1", "--arms", "2", "--horizon", "5")
    written(project, capsys, "certificate", *words, "--method", "code", "--certificate", "c.json")


def test_numbers_for_programs(project, capsys):
    sizes = ("--horizon", "200", "--runs", "2")
    written(project, capsys, "simulation", "simulate", "adap_ucb", *sizes, "--json", "s.json")
    written(project, capsys, "bounds", "bounds", "--env", "C1", "C2", "--json", "b.json")
    linear = ("--features", "1,0;0,1", "--theta", "1,0.2", "--horizon", "200")
    written(project, capsys, "bounds", "bounds", *linear, "--json", "l.json")
    written(project, capsys, "bounds", "bounds", "--rho", "0.5", "--json", "r.json")
    data = written(
        project, capsys, "ledger", "prove", "--only", "gap_free", "--json", "ledger.json"
    )
    assert data["steps"] and misfits("ledger", data | {"steps": [1]})


def test_replays_and_gates(project, capsys, locked):
    command(capsys, "check", "ucb", "--method", "exact", "--witness", "w.json", "--budget", "3")
    written(project, capsys, "replay", "replay", "w.json", "--json", "replay.json")
    gate = command(capsys, "gate", "--lock", str(locked), "--json", "gate.json")
    data = json.loads((project / "gate.json").read_text())
    assert data["exit_code"] == gate[0] and data["claims"] and not misfits("gate", data)
    assert misfits("gate", data | {"claims": [{}]})
