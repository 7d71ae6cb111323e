"""`report --all`: the index, its pages, the ledger; mutants; Ctrl-C keeps what is finished."""

from __future__ import annotations

import json
import re

import pytest

from dpaudit.claims.claim import ClaimOutcome
from dpaudit.claims.ledger import Entry, load_results, standings
from dpaudit.cli import run
from dpaudit.core import mutants
from dpaudit.core.algorithms import names
from dpaudit.errors import Unsupported
from dpaudit.judging import Report
from dpaudit.page import collection
from dpaudit.page.algorithm import page
from dpaudit.page.collection import write_ledger
from dpaudit.page.gallery import GallerySubject, subjects
from dpaudit.page.index import IndexRow, index
from dpaudit.verdict import Status

STEP = {
    "result": "karwa_vadhan", "step": "kv.log-ratio", "role": "step", "place": "l. 733",
    "statement": "a <= b <script>", "domain": "0 < p", "outcome": "restricted",
    "expected": "restricted", "how": "boundary", "counterexample": "p = 1", "boundary": "eps <= 2",
    "correction": "2 sinh", "survives": "it does",
}  # fmt: skip


@pytest.fixture
def judged(monkeypatch, proved, refuted):
    """Let the judge answer at once: adap_ucb is proved, everything else refuted."""
    asked: list[str] = []

    def judge(subject: GallerySubject, plan: collection.Plan) -> Report:
        asked.append(subject.name)
        return proved if subject.name == "adap_ucb" else refuted

    monkeypatch.setattr(collection, "judge", judge)
    return asked


@pytest.fixture
def ledger(tmp_path):
    file = tmp_path / "ledger.json"
    file.write_text(json.dumps({"counts": {}, "steps": [STEP]}))
    return str(file)


def test_every_algorithm_is_judged_and_linked(judged, ledger, tmp_path, capsys):
    assert run(["report", "--all", "-o", str(tmp_path / "out"), "--ledger", ledger]) == 0
    everyone = [subject.name for subject in subjects()]
    assert judged == everyone and set(names()) <= set(everyone)
    source = (tmp_path / "out" / "index.html").read_text()
    for name in everyone:
        assert f'href="{name}.html"' in source
        assert (tmp_path / "out" / f"{name}.html").exists()
        assert json.loads((tmp_path / "out" / f"{name}.json").read_text())["schema"] == 1
    assert f"{len(everyone)} of {len(everyone)} judged" in capsys.readouterr().out
    faults = (tmp_path / "out" / "ledger.html").read_text()
    assert "kv.log-ratio: restricted" in faults and "eps \u2264 2" in faults
    assert "<script>" not in faults.replace("</script>", "").partition("<script>")[0]
    assert "a \u2264 b &lt;script&gt;" in faults


def test_the_ledger_page_judges_theorems_as_prove_does(tmp_path):
    results = load_results()
    entries = [
        Entry(result, claim, ClaimOutcome(claim.expect, ""), 0.0)
        for result in results.values()
        for claim in result.claims
    ]
    write_ledger([entry.record() for entry in entries], tmp_path)
    page = re.sub(r"<[^>]+>", "|", (tmp_path / "ledger.html").read_text())
    for one in standings(results, entries):
        cells = [one.theorem.name, one.theorem.form, one.standing.kind]
        row = r"\|+".join(map(re.escape, [*cells, ", ".join(one.standing.leaves)]))
        assert re.search(row, page), one.theorem.label
    write_ledger([entry.record() for entry in entries if entry.result.name == "tables"], tmp_path)
    assert ">thm:minimax<" not in (tmp_path / "ledger.html").read_text()


def test_ctrl_c_keeps_finished_pages(monkeypatch, refuted, ledger, tmp_path):
    seen: list[str] = []

    def judge(subject, plan):
        seen.append(subject.name)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return refuted

    monkeypatch.setattr(collection, "judge", judge)
    out = tmp_path / "out"
    assert run(["report", "--all", "-o", str(out), "--ledger", ledger]) == 130
    assert sorted(p.stem for p in out.glob("*.html")) == sorted([*seen[:2], "index"])
    assert "more were not judged" in (out / "index.html").read_text()


def test_keep_judges_only_what_is_missing(proved, ledger, tmp_path, monkeypatch):
    from dpaudit.judging import as_json
    from dpaudit.output import write_json

    out = tmp_path / "out"
    out.mkdir()
    write_json(as_json(proved), str(out / "adap_ucb.json"), "report")
    monkeypatch.setattr(collection, "examine", None)  # nothing may be judged afresh
    options = ["--keep", "--only", "adap_ucb", "--ledger", ledger]
    assert run(["report", "--all", "-o", str(out), *options]) == 0
    assert (out / "adap_ucb.html").exists()


def test_what_cannot_be_judged_is_a_row(monkeypatch, ledger, tmp_path):
    def judge(subject, plan):
        raise Unsupported("Not <b>this</b> one.")

    monkeypatch.setattr(collection, "judge", judge)
    out = tmp_path / "out"
    assert run(["report", "--all", "-o", str(out), "--only", "ucb", "--ledger", ledger]) == 0
    source = (out / "index.html").read_text()
    assert "not judged" in source and "Not &lt;b&gt;this&lt;/b&gt; one." in source
    assert not (out / "ucb.html").exists()


def test_one_algorithm_for_real(ledger, tmp_path):
    out = tmp_path / "out"
    options = ["--only", "ucb", "--budget", "3", "--horizon", "1000", "--ledger", ledger]
    assert run(["report", "--all", "-o", str(out), *options]) == 0
    data = json.loads((out / "ucb.json").read_text())
    assert data["verdict"] == "REFUTED" and data["details"]["command"].endswith("--horizon 1000")
    assert "REFUTED" in (out / "index.html").read_text()


def test_a_file_in_the_way_costs_one_line(ledger, capsys):
    assert run(["report", "--all", "-o", ledger, "--ledger", ledger]) == 2
    assert "cannot be made a directory" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["[]", "{}", '{"steps": [{}]}', '{"steps": 1}', "x", "null"])
def test_another_ledger_costs_one_line(content, tmp_path, capsys):
    (tmp_path / "ledger.json").write_text(content)
    options = ["-o", str(tmp_path / "out"), "--ledger", str(tmp_path / "ledger.json")]
    assert run(["report", "--all", *options]) == 2
    captured = capsys.readouterr()
    assert "is not a ledger of `prove --json`." in captured.err and captured.err.count("\n") == 1


def test_mutants_come_with_the_size_where_their_flaw_shows():
    found = {subject.name: subject for subject in subjects() if subject.kind == "mutant"}
    assert list(found) == mutants.names() and all(it.flaw for it in found.values())
    declared, policy = found["noise_inverted"], found["control_streak"]
    assert (declared.epsilon, declared.exact_horizon, declared.runs) == (0.5, 3, None)
    way = mutants.find("control_streak").sample
    assert (policy.horizon, policy.runs) == (way.horizon, way.runs)


def test_a_policy_is_judged_as_check_judges_it(tmp_path):
    subject = next(it for it in subjects() if it.name == "control_early_commit")
    report = collection.judge(subject, collection.Plan(tmp_path, 60.0, 10, 0, kept=False))
    assert report.verdict is Status.REFUTED and report.lower == 0  # an error probability remains
    assert report.details.flaw == subject.flaw and report.findings[-1].courses
    assert "check mutants/control_early_commit --epsilon 1" in page(report)


def test_index_bounds_are_rounded_outward(proved):
    subject = GallerySubject("adap_ucb", "adap_ucb", "UCB")
    source = index([IndexRow(subject, proved)], 0, None)
    assert f'data-key="{proved.upper}"' in source
    assert "The ledger was not checked in this run." in source
