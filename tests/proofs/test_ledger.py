"""The whole ledger: every outcome is the stated one, and ERRATA.md is what the ledger says."""

from __future__ import annotations

import itertools
import json
import math
import re

import pytest

from dpaudit.claims import ledger
from dpaudit.claims.claim import OUTCOMES, REFUTED, RESTRICTED
from dpaudit.claims.errata import errata
from dpaudit.claims.overview import overview
from dpaudit.claims.theorem import (
    FALSE,
    OPEN,
    PRINTED,
    REPAIRED,
    Standing,
    Theorem,
    leaves_of,
    standing,
)
from dpaudit.errors import InvalidArgument, UnknownName
from dpaudit.regret_bounds import entropy, upper

RESULTS = ledger.load_results()
NAMES = (
    "granted",
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
    "other_notions",
)


# Every numbered theorem, lemma and fact of the paper; the KL lemma has no label of its own there.
NUMBERED = [
    "thm:laplace",
    "thm:minimax",
    "thm:nogap",
    "thm:linminmax",
    "thm:linnogap_reg",
    "lemma:privacy",
    "thm:privacy",
    "thm:ucb_upperbound",
    "thm:kl_ucb_upperbound",
    "thm:vadhan",
    "crl:vadhan_seq",
    "fact:1",
    "lem:kl",
    "fact:2",
    "lem:ucb_concentration",
    "lem:kl_concentration",
    "thm:gen_reg",
    "fact:non_nul",
    "thm:nogap_upper",
    "lem:post_proc",
    "lem:markov",
    "lem:div_decomp",
    "lem:bret_hub",
    "lem:pinsker",
    "lem:lap_conc",
    "lem:hoeff",
    "lem:kl_prop",
    "lem:chernoff",
]


@pytest.fixture(scope="session")
def entries():
    return list(ledger.run(list(RESULTS.values())))


@pytest.fixture(scope="session")
def judged(entries):
    return ledger.standings(RESULTS, entries)


def test_every_result_of_the_paper_has_its_file():
    assert tuple(RESULTS) == NAMES
    assert sum(len(result.claims) for result in RESULTS.values()) >= 200


def test_no_outcome_is_a_surprise(entries):
    surprises = [(e.claim.label, e.outcome) for e in entries if not e.expected]
    assert not surprises


def test_every_numbered_statement_is_a_theorem_and_no_false_one_stands_alone(judged):
    forms = {}
    for one in judged:
        forms.setdefault(one.theorem.name, {})[one.theorem.form] = one.standing.kind
    assert set(NUMBERED) <= set(forms)
    for name, kinds in forms.items():
        if kinds.get(PRINTED) in (FALSE, OPEN):
            assert kinds[REPAIRED] in ("proved", "granted"), name


def test_no_standing_is_a_surprise(judged):
    assert not [(one.theorem.label, one.standing) for one in judged if not one.expected]


def test_granted_leaves_carry_a_reference(judged):
    granted = {claim.label: claim.granted for r in RESULTS.values() for claim in r.claims}
    for one in judged:
        if one.standing.kind == "granted":
            assert one.standing.leaves and all(granted[leaf] for leaf in one.standing.leaves)


def test_a_theorem_falls_with_any_of_its_leaves(entries):
    """Turn each leaf of each standing theorem into a refuted one: the theorem must notice."""
    known = ledger.theorems(RESULTS)
    outcomes = {entry.claim.label: entry.outcome.kind for entry in entries}
    for theorem in known.values():
        if theorem.uses:
            for leaf in leaves_of(theorem, known):
                worse = standing(theorem, known, {**outcomes, leaf: REFUTED})
                assert worse == Standing(OPEN, (leaf,))
                weaker = standing(theorem, known, {**outcomes, leaf: "sampled"})
                assert weaker == Standing("sampled", (leaf,))


def test_a_theorem_may_not_rest_on_itself():
    one = Theorem("one", PRINTED, "", "", ("chain",), ("two as printed",))
    two = Theorem("two", PRINTED, "", "", ("chain",), ("one as printed",))
    with pytest.raises(InvalidArgument, match="rests on itself"):
        leaves_of(one, {one.label: one, two.label: two})


def test_the_graph_regenerates_to_the_same_bytes(entries, judged):
    stored = (ledger.proofs_directory() / "README.md").read_text(encoding="utf-8")
    assert overview(judged, entries) == stored


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


def test_what_models_suggest_and_a_theorem_says_is_said_by_one_that_stands(entries, judged):
    kinds = {one.theorem.label: one.standing.kind for one in judged}
    pointed = [entry for entry in entries if entry.claim.theorem]
    assert len(pointed) >= 15
    for entry in pointed:
        assert kinds[entry.claim.theorem] in ("proved", "granted"), entry.claim.label
        assert entry.claim.models is not None and entry.claim.theorem in entry.outcome.how


def test_the_gamma_of_the_printed_l_is_the_number_that_is_stated(entries):
    [entry] = [it for it in entries if it.claim.label == "ucb.gamma-sign"]
    alpha, log_horizon, gap, epsilon = 3.1, 12.0, 1.0, 2.0
    level = alpha * log_horizon
    n = 4 * level / (gap * min(epsilon, 2 * gap))
    gamma = gap - 2 * math.sqrt(level / (2 * n)) - 2 * level / (epsilon * n)
    assert gamma * n / level == pytest.approx(-1)
    assert "gamma n/(alpha L) >= 0" in entry.claim.statement
    assert entry.outcome.counterexample.startswith("Delta = 1")
    assert entry.outcome.counterexample.endswith("right side -1.0000000")


@pytest.mark.parametrize("c", [0.05, 0.2, 0.3178])
def test_the_universal_klucb_bound_covers_its_first_sum(c):
    """The leading term and the remainder against the sum over releases, term by term."""
    slack = upper.universal_slack(c)
    assert slack > 0
    for best, mean, epsilon in itertools.product((0.9, 0.6), (0.1, 0.55), (0.1, 1.0, 20.0)):
        gap, level = best - mean, 3.1 * math.log(1e7)
        rate = min(entropy.bernoulli(mean, best), epsilon * gap)
        summed = 0.0
        for i in range(60):
            n = 2**i / 2
            chance = math.exp(-n * (slack * gap) ** 2 / 2)
            chance += math.exp(-epsilon * n * slack * gap / 2) / 2
            summed += 2 * n * (1.0 if n < level / (c * rate) else min(1.0, chance))
        most = 4 * level / (c * rate) + 8 / (slack * gap) ** 2 + 4 / (slack * epsilon * gap)
        assert summed <= most


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


def test_one_step_is_selected_by_its_name():
    [chosen] = ledger.select(RESULTS, ["kv.moment"])
    assert [claim.label for claim in chosen.claims] == ["kv.moment"]
    assert ledger.select(RESULTS, ["kv.moment", "crl:vadhan_seq"]) == [RESULTS["karwa_vadhan"]]
    with pytest.raises(UnknownName, match="No result, theorem or step 'kv.momentum'"):
        ledger.select(RESULTS, ["kv.momentum"])


def test_errata_of_a_part_have_no_empty_chapter(entries):
    part = [entry for entry in entries if entry.result.name == "karwa_vadhan"]
    assert "Results without a false step" in errata(entries)
    assert "Results without a false step" not in errata(part)
