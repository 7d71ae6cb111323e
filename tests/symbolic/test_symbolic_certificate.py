"""Certificates of real proofs are accepted, and each of many forgeries is rejected."""

import copy
import json
import re
import time
from fractions import Fraction

import pytest
from evil import policy

from dpaudit.cli import run
from dpaudit.commands.verify import _file
from dpaudit.symbolic.certificate import MoveRecorder
from dpaudit.symbolic.subject import CodeTarget, subject_of
from dpaudit.symbolic.walk import SymbolicWalk
from dpaudit.verify import CertificateState, Rejected, verify

COIN = """
import numpy as np


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.rng, self.ones, self.pulls = rng, [0] * arms, [0] * arms

    def select(self):
        if 0 in self.pulls:
            return self.pulls.index(0)
        return self.ones.index(max(self.ones))

    def update(self, arm, reward):
        self.pulls[arm] += 1
        self.ones[arm] += int(self.rng.random() < 0.27 + 0.46 * reward)
"""


@pytest.fixture(scope="module", params=[True, False])
def certificates(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("code")
    found = []
    for name, text in (("doubling", policy("pass", "return False")), ("coin", COIN)):
        file = folder / f"{name}.py"
        file.write_text(text)
        target, recorder = CodeTarget(f"{file}:Policy", 2, 6, 1.0), MoveRecorder()
        walk = SymbolicWalk(
            subject_of(target), 6, Fraction(1), time.monotonic() + 60, request.param, heard=recorder
        )
        outcome = walk.explore()
        assert outcome.failure is None
        claim = {"arms": 2, "epsilon": "1", "sha256": ""}
        found.append(json.loads(json.dumps(recorder.document("policy", claim, outcome))))
    return found


def test_real_certificates_hold(certificates):
    for data in certificates:
        checked = verify(data)
        assert 0 < checked.worst <= Fraction(1) * (1 + Fraction(1, 10**12))


def forgeries(data):
    """Yield forged copies, each with one thing changed."""

    def forged():
        return copy.deepcopy(data)

    for number in range(len(data["states"])):
        bad = forged()
        del bad["states"][number]
        yield f"state {number} dropped", bad
    for number in range(len(data["moves"])):
        bad = forged()
        del bad["moves"][number]
        yield f"move {number} dropped", bad
        for name, scale in data["moves"][number]["scales"].items():
            if scale is not None and any(
                name in s for s in data["moves"][number]["shifts"].values()
            ):
                bad = forged()
                bad["moves"][number]["scales"][name] = str(Fraction(scale) * 2)
                yield f"move {number}: scale of {name} changed", bad
        for row, shift in data["moves"][number]["shifts"].items():
            for draw, value in shift.items():
                bad = forged()
                bad["moves"][number]["shifts"][row][draw] = str(Fraction(value) / 2)
                yield f"move {number}: shift of {draw} halved", bad
        move = data["moves"][number]
        before = {} if move["before"] is None else data["states"][move["before"]]
        for name in before.get("scales", ()):
            bad = forged()
            bad["moves"][number]["scales"][name] = "1000"
            yield f"move {number}: draw {name} gets another scale", bad
        if len(move["draws_into"]) > 1:
            bad, (one, other, *_) = forged(), move["draws_into"]
            bad["moves"][number]["draws_into"][other] = move["draws_into"][one]
            yield f"move {number}: two draws become one", bad
        for name in move["columns"]:
            bad = forged()
            bad["moves"][number]["columns"][name][0] = "nobody"
            yield f"move {number}: row {name} is nobody's", bad
        for index in range(len(data["moves"][number]["coins"])):
            bad = forged()
            bad["moves"][number]["coins"][index][1] = "0"
            yield f"move {number}: a coin for nothing", bad
    for charge in ("0", "1/2", str(Fraction(data["charge"]) * 2)):
        yield f"charge {charge}", forged() | {"charge": charge}
    yield "a smaller epsilon", forged() | {"epsilon": "1/2"}
    yield "a longer horizon", forged() | {"horizon": data["horizon"] + 1}
    yield "nothing", {}
    yield "no numbers", forged() | {"charge": 1.0}


def test_every_forgery_is_rejected(certificates):
    tried = 0
    for data in certificates:
        for name, bad in forgeries(data):
            with pytest.raises(Rejected):
                verify(bad)
                pytest.fail(f"accepted: {name}")
            tried += 1
    assert tried >= 100


def test_a_column_that_nothing_reaches_cannot_pay_back():
    """A reach below zero in a state without moves would lower what its row owes."""
    state = {
        "time": 1,
        "constraints": [],
        "scales": {"Z": "1"},
        "columns": {"X": ["1", "-1"]},
        "spent": {},
        "base": {},
        "owed": {"X": {"Z": "1"}},
    }
    with pytest.raises(Rejected, match="reach is negative"):
        CertificateState(state)
    assert CertificateState({**state, "columns": {"X": ["1", "1"]}}).owes() == 1


def test_a_file_beside_the_target_that_changed_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beside.py").write_text("def scale(epsilon):\n    return 1 / epsilon\n")
    (tmp_path / "mine.py").write_text(
        """
from beside import scale


class Policy:
    def __init__(self, arms, epsilon, rng):
        self.epsilon, self.rng, self.arm = epsilon, rng, None

    def select(self):
        return self.arm or 0

    def update(self, arm, reward):
        if self.arm is None:
            self.arm = int(reward + self.rng.laplace(0, scale(self.epsilon)) > 0.5)
"""
    )
    words = ["--method", "code", "--horizon", "4", "--certificate", "proof.json"]
    assert run(["check", "mine.py:Policy", *words]) == 0
    assert run(["verify", "proof.json"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "changed" not in told
    # what `check` counts is what `verify` re-checks, under the same name
    counts = re.findall(r"([\d,]+) stretches of paths", told)
    assert len(counts) == 2 and counts[0] == counts[1]
    (tmp_path / "beside.py").write_text("def scale(epsilon):\n    return 0.001 / epsilon\n")
    assert run(["verify", "proof.json"]) == 4
    told = capsys.readouterr().out
    assert "beside.py has changed since" in told and "VERIFIED" not in told
    whole = json.loads((tmp_path / "proof.json").read_text())
    for part in ({"beside": [1]}, {"epsilon": "1" + 400 * "0"}):
        (tmp_path / "forged.json").write_text(json.dumps(whole | part))
        assert run(["verify", "forged.json"]) == 1
        assert "REJECTED" in capsys.readouterr().out
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "__init__.py").write_text("")
    assert run(["verify", "proof.json"]) == 4
    assert "a package goes before beside.py" in " ".join(capsys.readouterr().out.split())
    (tmp_path / "beside.py").unlink()
    assert run(["verify", "proof.json"]) == 4
    assert "there is no beside.py here" in capsys.readouterr().out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run(["verify", str(tmp_path / "proof.json")]) == 4
    told = capsys.readouterr().out
    assert "there is no mine.py here" in " ".join(told.split()) and "STALE: nothing shows" in told


def test_a_mutant_is_found_where_it_lies():
    assert _file("mutants/float_saturated").name == "float_saturated.py"


def test_a_certificate_that_is_too_large_to_verify_says_so(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text(COIN)
    proof = str(tmp_path / "proof.json")
    words = ["--method", "code", "--horizon", "4", "--certificate", proof]
    for largest in (1 << 30, 1 << 10):
        monkeypatch.setattr("dpaudit.documents.LARGEST", largest)
        assert run(["check", f"{tmp_path / 'mine.py'}:Policy", *words]) == 0
        told = capsys.readouterr().out
        assert ("more than `verify` reads" in told) is (largest == 1 << 10)
        assert run(["verify", proof]) == (0 if largest == 1 << 30 else 2)
