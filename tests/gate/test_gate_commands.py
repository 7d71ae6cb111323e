"""`lock` and `gate` end to end: green, red with a counterexample, stale, weaker, fresh."""

from __future__ import annotations

import json
import os
import shutil
from xml.etree import ElementTree

import pytest
from gate_samples import HALVED, SHORT, command, spoil
from schema_checks import DATA, json_errors, xml_errors

from dpaudit.gate import lock as locks
from dpaudit.testing import PrivacyViolation, assert_global_dp

LONG = (
    "        scale = 1 / (exact(self.epsilon) * len(rows))\n",
    "        scale = 1 / (exact(self.epsilon) * len(rows) * (2 if len(rows) >= 64 else 1))\n",
)


def judged(capsys, *words):
    code, out, err = command(capsys, "gate", *words, "--json", "-")
    assert not err
    data = json.loads(out)
    assert data["exit_code"] == code
    return code, data["claims"]


def rules(claims):
    return [problem["rule"] for claim in claims for problem in claim["problems"]]


def test_green_then_one_line_of_noise_then_red(locked, capsys):
    code, out, err = command(capsys, "gate")
    assert (code, err) == (0, "")
    assert out.startswith("ok    PROVED   mine.py:Mine  epsilon = 1")
    spoil(locked.parent, *HALVED)
    outputs = ("--sarif", "o.sarif", "--junit", "o.xml", "--github")
    code, out, err = command(capsys, "gate", *outputs)
    assert (code, err) == (1, "")
    for said in (
        "FAIL  REFUTED  mine.py:Mine", "DPA001", "DPA005", "actions     0 1 0",
        "stream      0 0 0", "neighbour   0 1 0", "one reward differs, at round 2",
        "[0.135335283236, 0.135335283237] on its neighbour",
        "loss        [1.30685281944, 1.30685281945] > 1 (certified)",
        "Replay: python -m dpaudit replay .dpaudit/mine-py-Mine", "::error file=mine.py,line=12,",
    ):  # fmt: skip
        assert said in out
    line = next(line for line in out.splitlines() if "Replay: python" in line)
    code, out, err = command(capsys, *line.split("dpaudit ", 1)[1].split())
    assert (code, err) == (0, "")
    assert "CONFIRMED" in out
    log = json.loads((locked.parent / "o.sarif").read_text())
    assert not json_errors(log, DATA / "sarif-schema-2.1.0.json")
    assert [it["ruleId"] for it in log["runs"][0]["results"]] == ["DPA001", "DPA005"]
    root = ElementTree.parse("o.xml").getroot()
    assert not xml_errors(root)
    assert root.find("testsuite").get("failures") == "1"


def test_a_harmless_change_is_stale_until_locked_again(locked, capsys):
    spoil(locked.parent, "A private bandit", "A private bandit, documented")
    code, claims = judged(capsys)
    assert (code, rules(claims)) == (4, ["DPA005"])
    assert "Still PROVED" in claims[0]["problems"][0]["message"]
    assert command(capsys, "lock", "--update")[0] == 0
    assert judged(capsys)[0] == 0


def test_update_refuses_to_weaken_without_a_reason_and_keeps_it(locked, capsys):
    before = locked.read_bytes()
    spoil(locked.parent, "(DoublingEpisodes):", "(DoublingEpisodes):\n    epsilon: float = 2.0\n")
    code, claims = judged(capsys)
    assert (code, rules(claims)) == (4, ["DPA007", "DPA003", "DPA005"])
    code, _, err = command(capsys, "lock", "--update")
    assert (code, err.count("\n")) == (4, 1)
    assert "would get weaker" in err and "epsilon = 2.0, locked was 1.0" in err
    assert locked.read_bytes() == before
    code, _, err = command(capsys, "lock", "--update", "--reason", " ")
    assert code == 2 and "must say something" in err
    assert command(capsys, "lock", "--update", "--reason", "agreed for the pilot")[0] == 0
    found = locks.read(locked)
    assert [it.reason for it in found.history] == ["agreed for the pilot"]
    assert "epsilon = 2.0, locked was 1.0" in found.history[0].change
    assert judged(capsys)[0] == 0
    assert command(capsys, "lock", "--update")[0] == 0
    assert locks.read(locked).history == found.history


@pytest.mark.parametrize("words", [("--horizon", "500"), ("--method", "structure")])
def test_fewer_rounds_and_fewer_checks_are_weaker(locked, capsys, words):
    code, _, err = command(capsys, "lock", "--update", *words)
    assert code == 4 and "would get weaker" in err


def test_a_flaw_beyond_the_locked_size_is_searched_for(locked, capsys):
    spoil(locked.parent, *LONG)
    code, claims = judged(capsys)
    assert (code, rules(claims)) == (1, ["DPA001", "DPA005"])
    witness = next(f["witness"] for f in claims[0]["findings"] if f["witness"])
    assert len(witness["actions"]) > 64
    os.unlink("dpaudit.lock")
    code, out, err = command(capsys, "lock", "mine.py:Mine", *SHORT)
    assert code == 1 and out.startswith("REFUTED") and "would get weaker" in err
    with pytest.raises(PrivacyViolation, match="required: proved; found: REFUTED"):
        assert_global_dp("mine.py:Mine", 1, horizon=1000, method="structure,exact")


def test_a_refuted_claim_is_not_locked_without_a_reason(project, capsys):
    spoil(project, *HALVED)
    code, out, err = command(capsys, "lock", "mine.py:Mine", *SHORT)
    assert (code, err.count("\n")) == (1, 1)
    assert "REFUTED" in out and "would get weaker" in err
    assert not os.path.exists("dpaudit.lock")
    words = ("lock", "mine.py:Mine", *SHORT, "--reason", "a baseline, known to leak")
    assert command(capsys, *words)[0] == 0
    code, claims = judged(capsys)
    assert (code, claims[0]["verdict"], claims[0]["locked"]) == (0, "REFUTED", "REFUTED")


def test_an_algorithm_that_vanished(locked, capsys):
    spoil(locked.parent, "class Mine", "class Yours")
    spoil(locked.parent, "Mine(arms", "Yours(arms")
    code, claims = judged(capsys)
    assert (code, rules(claims)) == (4, ["DPA006"])
    assert claims[0]["place"]["file"] == "dpaudit.lock"
    os.unlink("mine.py")
    code, out, err = command(capsys, "gate")
    assert (code, err) == (4, "")
    assert "there is no file mine.py" in out
    code, _, err = command(capsys, "lock", "--update")
    assert (code, err.count("\n")) == (4, 1) and "--remove" in err
    code, _, err = command(capsys, "lock", "--remove", "mine.py:Mine")
    assert (code, err.count("\n")) == (4, 1) and "PROVED claim removed" in err
    code, _, err = command(capsys, "lock", "--remove", "mine.py:Mine", "--reason", "retired")
    assert (code, err) == (0, "")
    assert locks.read(locked).claims == []


def test_a_source_that_does_not_import_any_more(locked, capsys):
    (locked.parent / "mine.py").write_text("class Mine(:\n")
    code, out, err = command(capsys, "gate")
    assert (code, err) == (4, "")
    assert "DPA006" in out and "SyntaxError" in out and "Traceback" not in out


EXITS = ("        return Affine", "        raise SystemExit(0)\n        return Affine")
RAISES = ("        return Affine", "        raise TypeError('one\\ntwo')\n        return Affine")


@pytest.mark.parametrize("change", [EXITS, RAISES, ('"""A', 'import sys\nsys.exit(0)\n"""A')])
def test_code_that_exits_or_raises_does_not_look_green(locked, capsys, change):
    spoil(locked.parent, *change)
    code, claims = judged(capsys)
    assert code == 4 and rules(claims)[0] in ("DPA002", "DPA006")
    code, _, err = command(capsys, "lock", "--update")
    assert (code, err.count("\n")) == (4, 1)
    if change is not RAISES:
        words = ("mine.py:Mine", "--method", "sample", "--horizon", "9")
        code, _, err = command(capsys, "check", *words)
        assert (code, err.count("\n")) == (2, 1)


def test_an_edited_lock_is_judged_anew_for_a_reason(locked, capsys):
    locked.write_text(locked.read_text().replace('"lower": "0.8', '"lower": "0.1'))
    code, _, err = command(capsys, "lock", "--update", "mine.py:Mine", "--reason", "merge")
    assert code == 4 and "edited by hand" in err
    assert command(capsys, "lock", "--update", "--reason", "merge of two branches")[0] == 0
    found = locks.read(locked)
    assert [(it.claim, it.reason) for it in found.history] == [("(all)", "merge of two branches")]
    assert found.claims[0].lower.startswith("0.8")
    assert judged(capsys)[0] == 0


def test_a_bad_lock_is_annotated_too(locked, capsys):
    locked.write_text("{")
    code, out, err = command(capsys, "gate", "--github")
    assert code == 4 and err.startswith("dpaudit: lock=dpaudit.lock is not JSON")
    assert out.startswith("::error file=dpaudit.lock,title=dpaudit::lock=dpaudit.lock is not JSON")


def test_a_lock_in_another_directory(locked, capsys, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copy(locked.parent / "mine.py", elsewhere / "mine.py")
    spoil(elsewhere, *HALVED)
    monkeypatch.chdir(elsewhere)
    code, _ = judged(capsys, "--lock", str(locked))
    assert code == 0
    spoil(locked.parent, *HALVED)
    code, claims = judged(capsys, "--lock", str(locked))
    assert code == 1
    assert command(capsys, *claims[0]["replay"].split()[3:])[0] == 0


def test_claims_are_chosen_by_name_or_target(locked, capsys):
    words = ("--arms", "3", "--epsilon", "0.5", "--horizon", "50", "--method", "structure")
    assert command(capsys, "lock", "mine.py:Mine", *words)[0] == 0
    assert len(judged(capsys, "mine.py:Mine")[1]) == 2
    name = "mine.py:Mine arms=3 epsilon=0.5"
    assert [it["claim"] for it in judged(capsys, name)[1]] == [name]
    code, _, err = command(capsys, "gate", "mine.py:Mien")
    assert (code, err.count("\n")) == (2, 1) and "Did you mean 'mine.py:Mine'?" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("lock",), "TARGET=(none) is required"),
        (("lock", "nothing"), "No algorithm 'nothing'"),
        (("lock", "gone.py:X"), "there is no file gone.py"),
        (("lock", "mine.py:Mnie"), "Did you mean 'Mine'?"),
        (("lock", "mine.py:Mine"), "locked already"),
        (("lock", "mine.py:made", "--method", "guess"), "No method 'guess'"),
        (("lock", "mine.py:made", "--horizon", "0"), "horizon=0"),
        (("lock", "mine.py:made", "--seed", "-1"), "seed=-1"),
        (("lock", "mine.py:made", "--param", "colour=3"), "colour=3 is not a parameter"),
        (("lock", "--update", "--epsilon", "2"), "makes another claim"),
        (("lock", "--remove", "x", "--reason", "y"), "is not locked"),
        (("lock", "mine.py:coin", "--method", "structure"), "which is code"),
        (("gate", "--junit", "-"), "must be a file"),
        (("gate", "--github", "--json", "-"), "both write to standard output"),
        (("gate", "--sarif", "nowhere/x.sarif"), "directory does not exist"),
        (("gate", "--fresh", "--error", "2"), "error=2"),
        (("gate", "--budget", "soon"), "budget=soon"),
        (("check", "mine.py:Mine", "--sarif", "-"), "must be a file"),
    ],
)
def test_bad_input_costs_one_line(locked, capsys, words, said):
    before = locked.read_bytes()
    code, out, err = command(capsys, *words)
    assert code == 2 and not out
    assert said in err and err.count("\n") == 1
    assert locked.read_bytes() == before


def test_fresh_seeds_spend_a_recorded_error(project, capsys):
    words = ("lock", "mine.py:coin", "--runs", "64", "--horizon", "10")
    assert command(capsys, *words)[0] == 0
    seeds = set()
    for count in (1, 2):
        code, out, err = command(capsys, "gate", "--fresh", "--json", "-")
        fresh = json.loads(out)["fresh"]
        assert (code, err) == (0, "")
        assert (fresh["error"], fresh["runs"]) == ("0.000001", count)
        seeds.add(fresh["seed"])
    assert len(seeds) == 2
    record = json.loads((project / "dpaudit.fresh.json").read_text())
    assert {run["seed"] for run in record} == seeds
    code, out, err = command(capsys, "gate", "--fresh", "--error", "2e-6")
    assert (code, err.count("\n")) == (2, 1) and "is spent" in err
    (project / "dpaudit.fresh.json").write_text("{}")
    code, out, err = command(capsys, "gate", "--fresh")
    assert (code, err.count("\n")) == (2, 1) and "not a record" in err


def test_a_black_box_is_locked_and_refuted_with_a_replay(project, capsys):
    words = ("--runs", "200", "--horizon", "4")
    assert command(capsys, "lock", "mine.py:coin", *words)[0] == 0
    [entry] = locks.read(project / "dpaudit.lock").claims
    assert (entry.verdict, entry.options.methods, entry.options.runs) == (
        "SILENT",
        ["code", "exact", "sample"],
        200,
    )
    spoil(project, "[int(rng.random() < 0.5) for _ in stream]", "[0, *map(int, stream[:-1])]")
    code, claims = judged(capsys)
    assert (code, rules(claims)) == (1, ["DPA001", "DPA005"])
    assert "Pair:" in claims[0]["details"] and "Event:" in claims[0]["details"]
    code, out, err = command(capsys, *claims[0]["replay"].split()[3:])
    assert (code, err) == (1, "") and "REFUTED again" in out
    code, out, err = command(capsys, "lock", "mine.py:Greedy", *words)
    assert code == 1 and "REFUTED" in out


def test_stronger_than_locked_is_worth_a_note(locked, capsys):
    spoil(locked.parent, *HALVED)
    assert command(capsys, "lock", "--update", "--reason", "a pilot")[0] == 0
    spoil(locked.parent, *HALVED[::-1])
    code, claims = judged(capsys)
    assert (code, rules(claims)) == (4, ["DPA005"])
    assert "locked as REFUTED" in claims[0]["notes"][0]
    assert claims[0]["notes"][1].startswith("stronger than locked (REFUTED)")


def test_another_engine_is_worth_a_note_only(locked, capsys, monkeypatch):
    monkeypatch.setattr("dpaudit.gate.run.engine_digest", lambda: "0" * 64)
    code, claims = judged(capsys)
    assert code == 0
    assert claims[0]["notes"] == ["locked with another engine (dpaudit 0.1.0)"]


def test_check_writes_the_same_formats(project, capsys):
    spoil(project, *HALVED)
    words = ("mine.py:Mine", "--horizon", "1000", "--exact-horizon", "4", "--method", "exact")
    outputs = ("--sarif", "o.sarif", "--junit", "o.xml", "--github", "--witness", "w.json")
    code, out, err = command(capsys, "check", *words, *outputs)
    assert (code, err) == (1, "")
    assert "::error file=mine.py,line=12,title=dpaudit DPA001" in out
    assert "Replay: python -m dpaudit replay w.json" in out
    log = json.loads((project / "o.sarif").read_text())
    assert not json_errors(log, DATA / "sarif-schema-2.1.0.json")
    assert not xml_errors(ElementTree.parse("o.xml").getroot())
    code, out, err = command(capsys, "check", "mine.py:Mine", "--method", "structure", "--github")
    assert code == 3 and "::warning file=mine.py,line=12,title=dpaudit DPA008" in out
