"""`dpaudit prove`: ledger, JSON, one result, one counterexample, bad names."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dpaudit.claims import ledger
from dpaudit.claims.claim import Claim
from dpaudit.cli import run


def test_one_result_prints_its_ledger_and_counts(capsys):
    assert run(["prove", "--only", "gap_free"]) == 0
    text = capsys.readouterr().out
    assert "gf.tuning" in text and "10 steps: 7 proved, 1 identity, 2 refuted" in text
    assert "kv.lemma" not in text


def test_json_goes_to_stdout_alone(capsys):
    assert run(["prove", "--only", "gap_free", "--json", "-"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["counts"]["proved"] == 7
    assert {"step", "place", "outcome", "domain"} <= set(data["steps"][0])


def test_json_and_errata_go_to_files(tmp_path, capsys):
    target, page = tmp_path / "ledger.json", tmp_path / "errata.md"
    arguments = ["prove", "--only", "tables", "--json", str(target), "--errata", str(page)]
    assert run(arguments) == 0
    assert json.loads(target.read_text())["counts"]["restricted"] == 1
    assert "rm.minimax-regime" in page.read_text()


def test_a_counterexample_is_one_command(capsys):
    assert run(["prove", "--counterexample", "kv.log-ratio"]) == 0
    text = capsys.readouterr().out
    assert "2.8384463800" in text and "epsilon = 2.8384463801" in text and "2 sinh(eps)" in text


def test_mutants_are_counted(capsys):
    assert run(["prove", "--only", "gap_free", "--mutate"]) == 0
    text = capsys.readouterr().out
    assert "8 steps" in text and "steps that no mutation breaks: none" in text
    assert "mutation    tried  refuted  unproved  survived\n" in text


def test_a_theorem_alone_is_judged_by_what_it_rests_on_elsewhere(capsys):
    assert run(["prove", "--only", "thm:nogap_upper", "--only", "mm.two-maxima"]) == 0
    text = capsys.readouterr().out
    assert "thm:nogap_upper  as printed  proved" in text
    assert "11 steps:" in text and "ucb.assembly" not in text and "thm:minimax  " not in text
    words = " ".join(text.split())
    assert "thm:nogap_upper as printed (l. 1740): proved For every eps > 0, alpha > 3, T" in words
    assert "proved: every step below it is proved, certified or an identity" in words
    assert "By cases, sum, chain, from `thm:ucb_upperbound as printed`, `gf.small-gaps`" in words
    assert run(["prove", "--only", "thm:minimax as printed", "--json", "-"]) == 0
    kinds = {it["theorem"] + ", " + it["form"]: it["standing"]
             for it in json.loads(capsys.readouterr().out)["theorems"]}  # fmt: skip
    assert kinds == {
        "thm:minimax, as printed": "granted",
        "thm:minimax, as repaired": "granted",
        "thm:minimax for bounded rewards, as printed": "false",
        "thm:minimax for bounded rewards, as repaired": "granted",
    }


def test_a_theorem_that_falls_by_a_step_elsewhere_is_a_surprise(monkeypatch, capsys):
    real = ledger.check

    def check(claim):
        outcome = real(claim)
        return replace(outcome, kind="unresolved") if claim.label == "ucb.assembly" else outcome

    monkeypatch.setattr(ledger, "check", check)
    assert run(["prove", "--only", "gap_free"]) == 1
    assert "surprise: thm:nogap_upper as printed is open" in capsys.readouterr().out


def test_what_was_sampled_names_the_theorem_that_proves_it(capsys):
    assert run(["prove", "--counterexample", "kl.constant-one"]) == 0
    assert "drawn at random; theorem: lem:kl as repaired" in capsys.readouterr().out


def test_errata_on_a_terminal_keep_to_its_lines(monkeypatch, capsys):
    command = ["prove", "--only", "tables", "--errata", "-"]
    assert run(command) == 0
    piped = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "72")
    assert run(command) == 0
    shown = capsys.readouterr().out
    words = [line for line in shown.splitlines() if not line.startswith("|")]
    assert max(map(len, words)) <= 72 < max(map(len, piped.splitlines()))
    assert shown.split() == piped.split()
    assert "17 steps are about the paper and counted here.\n" in piped


def test_the_graph_needs_every_step(capsys):
    assert run(["prove", "--only", "gap_free", "--graph", "-"]) == 2
    assert "--graph needs every step" in capsys.readouterr().err


def test_listing_checks_nothing(capsys):
    assert run(["prove", "--list"]) == 0
    assert "  kv.lemma\n" in capsys.readouterr().out
    assert run(["prove", "--list", "--only", "crl:vadhan_seq"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("karwa_vadhan: ") and "\n  kv.lemma\n" in out and "minimax" not in out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--only", "karwa_vadan"], "Did you mean 'karwa_vadhan'?"),
        (["--counterexample", "kv.log-ration"], "Did you mean 'kv.log-ratio'?"),
        (["--counterexample", "thm:minimax"], "is a theorem, not a step: `--only 'thm:minimax'`"),
        (["--list", "--json", "-"], "json=- --list checks nothing"),
        (["--only", "gap_free", "--json", "/no/such/place/x.json"], "cannot be written"),
    ],
)
def test_bad_names_cost_one_line(arguments, hint, capsys):
    assert run(["prove", *arguments]) == 2
    error = capsys.readouterr().err
    assert hint in error and error.count("\n") == 1


def test_a_surprise_gives_exit_code_one(monkeypatch, capsys):
    results = ledger.load_results()
    result = results["gap_free"]
    wrong = Claim("gf.wrong", "here", "1 <= 0", 1, "<=", 0)
    changed = type(result)(**{**vars(result), "claims": (wrong,), "theorems": ()})
    monkeypatch.setattr(ledger, "load_results", lambda: {"gap_free": changed})
    assert run(["prove"]) == 1
    assert "surprise: gf.wrong is refuted" in capsys.readouterr().out


def test_an_algorithm_is_for_check(capsys):
    assert run(["prove", "adap_klucb"]) == 2
    assert "an algorithm is for `check`" in capsys.readouterr().err


def test_a_label_without_its_option_is_met_with_it(capsys):
    assert run(["prove", "crl:vadhan_seq"]) == 2
    assert "a result or a step is --only crl:vadhan_seq" in capsys.readouterr().err
