"""The lock file: what it keeps, and one line for everything that can be wrong with it."""

from __future__ import annotations

import hashlib
import json
import math
import os

import msgspec
import pytest
from gate_samples import command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpaudit.errors import Contradiction
from dpaudit.gate import lock as locks
from dpaudit.gate.lock import Lock, LockedClaim, Reason, encode, options_of, sizes_of
from dpaudit.gate.run import Gate
from dpaudit.options import Options
from dpaudit.verdict import Status

numbers = st.floats(min_value=5e-324, max_value=1e300)


def entry(claim="a", **changes):
    base = LockedClaim(
        claim=claim,
        target="mine.py:Mine",
        epsilon="1.0",
        anytime=True,
        verdict=Status.PROVED,
        covered=1000,
        lower="0.5",
        upper="1.0",
        options=sizes_of(Options(horizon=1000, exact_horizon=4)),
        parameters={"arms": "2"},
        findings=[locks.LockedFinding("structure", Status.PROVED, 1000, "0.0", "1.0", True, None)],
        sources={"mine.py": "00"},
        packages={},
        versions={"dpaudit": "0.1.0"},
    )
    return msgspec.structs.replace(base, **changes)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(numbers, numbers, st.integers(0, 2**63), st.floats(0.1, 10))
def test_options_and_bounds_read_back_as_the_same_numbers(epsilon, bound, seed, budget):
    options = Options(epsilon, {"arms": 3, "alpha": bound}, 10, 4, ("exact",), seed, budget, runs=7)
    again = msgspec.convert(
        json.loads(encode(Lock([entry(options=sizes_of(options), upper=repr(bound))])))["claims"][
            0
        ],
        LockedClaim,
    )
    assert options_of(again) == options
    assert type(options_of(again).given["arms"]) is int  # 2.0 arms are none
    assert float(again.upper) == bound
    assert float(entry(upper=repr(math.inf)).upper) == math.inf


def test_the_file_is_sorted_json_whatever_the_order_of_work(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    locks.write(one, Lock([entry("b"), entry("a")], [Reason("a", "x", "y")]))
    locks.write(two, Lock([entry("a"), entry("b")], [Reason("a", "x", "y")]))
    assert one.read_bytes() == two.read_bytes()
    data = json.loads(one.read_text())
    assert list(data) == sorted(data)
    assert [it["claim"] for it in data["claims"]] == ["a", "b"]
    assert data["schema"] == 4
    assert locks.read(one).claims == [entry("a"), entry("b")]


def test_the_lock_of_a_claim(locked):
    [found] = locks.read(locked).claims
    assert found.claim == found.target == "mine.py:Mine"
    assert found.verdict is Status.PROVED
    assert float(found.upper) == 1.0
    assert 0.88 < float(found.lower) < 0.89
    assert found.options.exact_horizon == 4
    text = (locked.parent / "mine.py").read_bytes()
    expected = hashlib.sha256(f"mine.py {len(text)}\n".encode() + text).hexdigest()
    assert found.sources["mine.py"] == expected
    assert set(found.sources) == {"mine.py", "dpaudit.core"}


def test_locking_twice_gives_the_same_bytes(locked, capsys):
    before = locked.read_bytes()
    assert command(capsys, "lock", "--update")[0] == 0
    assert locked.read_bytes() == before


def spoiled(text, **changes):
    data = json.loads(text)
    data.update(changes)
    return json.dumps(data).encode()


def edited(text):
    assert '"upper": "1.0"' in text
    return text.replace('"upper": "1.0"', '"upper": "9.0"').encode()


BAD = {
    "corrupted": (lambda text: text.replace(":", ";").encode(), 4, "not JSON"),
    "truncated": (lambda text: text[: len(text) // 2].encode(), 4, "not JSON"),
    "empty": (lambda text: b"", 4, "not JSON"),
    "binary": (lambda text: bytes(range(256)), 4, "not JSON"),
    "deep": (lambda text: b"[" * 100_000, 4, "not JSON"),
    "another format": (lambda text: b"[1, 2]", 4, "not a lock of dpaudit"),
    "no schema": (lambda text: b"{}", 4, "not a lock of dpaudit"),
    "odd schema": (lambda text: spoiled(text, schema="1"), 4, "not a lock of dpaudit"),
    "true schema": (lambda text: spoiled(text, schema=True), 4, "not a lock of dpaudit"),
    "future schema": (lambda text: spoiled(text, schema=5), 4, "upgrade dpaudit"),
    "edited": (edited, 4, "edited by hand"),
    "claim dropped": (lambda text: spoiled(text, claims=[]), 4, "edited by hand"),
    "no digest": (lambda text: spoiled(text, digest=None), 4, "edited by hand"),
    "edited beyond reading": (lambda text: spoiled(text, claims=[{}]), 4, "edited by hand"),
    "field added": (lambda text: spoiled(text, extra=1), 4, "edited by hand"),
    "no number": (lambda text: text.replace('"1.0"', '"one"').encode(), 4, "edited by hand"),
    "bad seed": (lambda text: text.replace('"seed": 0', '"seed": -1').encode(), 4, "seed=-1"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("words", [("gate",), ("lock", "--update"), ("lock", "mine.py:made")])
def test_a_bad_lock_costs_one_line_and_is_left_alone(locked, capsys, kind, words):
    spoil, expected, said = BAD[kind]
    data = spoil(locked.read_text())
    locked.write_bytes(data)
    code, out, err = command(capsys, *words)
    assert code == expected
    assert said in err
    assert err.count("\n") == 1 and "Traceback" not in err and not out
    assert locked.read_bytes() == data


def test_whitespace_is_not_an_edit(locked, capsys):
    locked.write_text(json.dumps(json.loads(locked.read_text())))
    assert command(capsys, "gate")[0] == 0


def test_missing_and_unreadable_locks(project, capsys):
    code, _, err = command(capsys, "gate")
    assert (code, err.count("\n")) == (2, 1) and "does not exist" in err
    os.mkdir("dpaudit.lock")
    code, _, err = command(capsys, "gate")
    assert (code, err.count("\n")) == (2, 1) and "cannot be read" in err
    code, _, err = command(capsys, "lock", "mine.py:Mine")
    assert (code, err.count("\n")) == (2, 1) and "is a directory" in err
    code, _, err = command(capsys, "lock", "mine.py:Mine", "--lock", "nowhere/x.lock")
    assert (code, err.count("\n")) == (2, 1) and "directory does not exist" in err


def test_a_lock_without_claims_is_not_green(project, capsys):
    locks.write(project / "dpaudit.lock", Lock())
    code, out, err = command(capsys, "gate")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "holds no claims, so nothing was judged" in err


def test_a_lock_of_the_first_schema_is_read(locked):
    data = json.loads(locked.read_text())
    for name in ("digest", "dpaudit"):
        del data[name]
    data["schema"] = 1
    for claim in data["claims"]:
        del claim["packages"], claim["covered"]
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    locked.write_text(json.dumps(data | {"digest": hashlib.sha256(text.encode()).hexdigest()}))
    [found] = locks.read(locked).claims
    assert (found.claim, found.packages, found.covered) == ("mine.py:Mine", {}, 1000)


FORGED = {
    "nan bound": ({"upper": "nan"}, "a bound is nan"),
    "negative claim": ({"epsilon": "-1.0"}, "epsilon=-1.0 must be positive"),
    "endless seed": ({"seed": -(10**30)}, "cannot be read"),
    "foreign check": ({"methods": ["exact", "trust"]}, "No method 'trust'"),
    "no budget": ({"budget": "0.0"}, "budget=0.0"),
    "text for runs": ({"runs": "many"}, "cannot be read"),
    "unknown field": ({"trusted": True}, "cannot be read"),
    "unknown verdict": ({"verdict": "PRIVATE"}, "cannot be read"),
    "terminal commands": ({"claim": "\x1b[2J"}, "U+001B"),
}


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_lock_with_the_right_digest_runs_nothing(locked, capsys, kind):
    change, said = FORGED[kind]
    data = json.loads(locked.read_text())
    del data["digest"]
    claim = data["claims"][0]
    for name, value in change.items():
        (claim["options"] if name in claim["options"] else claim)[name] = value
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    forged = json.dumps(data | {"digest": hashlib.sha256(text.encode()).hexdigest()})
    locked.write_text(forged)
    (locked.parent / "mine.py").write_text("raise RuntimeError")
    for words in (("gate",), ("lock", "--update", "--reason", "x")):
        code, out, err = command(capsys, *words)
        assert (code, out, err.count("\n")) == (4, "", 1) and said in err
        assert locked.read_text() == forged


def test_an_interrupted_lock_leaves_the_old_one(locked, capsys, monkeypatch):
    before = locked.read_bytes()

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpaudit.examination.call", interrupt)
    for words in (("lock", "--update"), ("lock", "mine.py:made")):
        code, _, err = command(capsys, *words)
        assert (code, err) == (130, "dpaudit: interrupted; dpaudit.lock is unchanged.\n")
    code, _, err = command(capsys, "gate")
    assert (code, err) == (130, "dpaudit: interrupted; 1 of 1 claims not judged.\n")
    assert locked.read_bytes() == before
    assert not [name for name in os.listdir() if name.startswith(".dpaudit.lock")]


def test_a_contradiction_is_no_result_of_a_gate(tmp_path, monkeypatch):
    def contradicted(asked):
        raise Contradiction("proved and refuted")

    monkeypatch.setattr("dpaudit.gate.run.apart", contradicted)
    with pytest.raises(Contradiction, match="proved and refuted"):
        Gate(tmp_path, tmp_path).result(entry())
