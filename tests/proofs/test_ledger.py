"""The whole ledger: every outcome is the stated one, and ERRATA.md is what the ledger says."""

from __future__ import annotations

import json
import re

import pytest

from dpaudit.claims import ledger
from dpaudit.claims.claim import OUTCOMES, REFUTED, RESTRICTED
from dpaudit.claims.errata import errata

RESULTS = ledger.load_results()
NAMES = (
    "background",
    "karwa_vadhan",
    "kl_decomposition",
    "minimax",
    "problem_dependent",
    "linear_minimax",
    "linear_problem_dependent",
    "privacy",
    "concentration",
    "generic_regret",
    "adap_ucb",
    "adap_klucb",
    "gap_free",
    "tables",
    "extremal_streams",
    "sharper_bounds",
)


@pytest.fixture(scope="session")
def entries():
    return list(ledger.run(list(RESULTS.values())))


def test_every_result_of_the_paper_has_its_file():
    assert tuple(RESULTS) == NAMES
    assert sum(len(result.claims) for result in RESULTS.values()) >= 200


def test_no_outcome_is_a_surprise(entries):
    surprises = [(e.claim.label, e.outcome) for e in entries if not e.expected]
    assert not surprises


def test_the_counts_add_up(entries):
    counts = ledger.counts(entries)
    assert list(counts) == list(OUTCOMES) and sum(counts.values()) == len(entries)


def test_errata_regenerate_to_the_same_bytes(entries):
    stored = (ledger.proofs_directory() / "ERRATA.md").read_text(encoding="utf-8")
    assert errata(entries) == stored


def test_errata_name_every_false_step_with_its_counterexample(entries):
    text = errata(entries)
    for entry in entries:
        if entry.outcome.kind in (REFUTED, RESTRICTED) and entry.result.in_paper:
            assert f"--counterexample {entry.claim.label}`" in text
            assert entry.outcome.counterexample in text
            assert entry.claim.correction in text and entry.claim.survives


def test_records_are_plain_data(entries):
    text = json.dumps([entry.record() for entry in entries])
    assert all(record["outcome"] in OUTCOMES for record in json.loads(text))


def test_boundaries_carry_ten_digits(entries):
    boundaries = [e.outcome.boundary for e in entries if e.outcome.kind == RESTRICTED]
    assert len(boundaries) >= 4
    for text in boundaries:
        digits = re.search(r"<= ([0-9.]+)\.\.\.", text).group(1)
        assert len(digits.replace(".", "").lstrip("0")) >= 10


def test_stated_roots_agree_with_the_enclosures(entries):
    """A number written in prose is the number that was enclosed."""
    by_label = {entry.claim.label: entry.outcome.boundary for entry in entries}
    assert "2.838446380" in by_label["kv.log-ratio"]
    assert "2.918300475" in by_label["kv.lemma"]
    assert "2.9183" in RESULTS["karwa_vadhan"].verdict


def test_misprints_and_verdicts_are_sentences():
    for result in RESULTS.values():
        assert result.verdict.endswith(".") and result.place
        assert all(text.endswith(".") for text in result.misprints)
