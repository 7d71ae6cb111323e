"""Coq: the files are what the ledger generates, and coqc accepts them where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap

import pytest

from dpaudit.claims import ledger
from dpaudit.claims.coq import modules, statement, term
from dpaudit.cli import run

RESULTS = ledger.load_results()
FOLDER = ledger.proofs_directory() / "coq"
THEOREMS = (
    "privacy",
    "karwa_vadhan_lemma",
    "kl_decomposition_theorem",
    "cited_inequalities",
)
BY_HAND = ("prelude", *THEOREMS)
needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None,
    reason="coqc is not installed (apt-get install coq libcoq-interval libcoq-coquelicot): skipped",
)


def compile_all(tmp_path, names):
    for name in names:
        shutil.copy(FOLDER / f"{name}.v", tmp_path)
        done = subprocess.run(
            ["coqc", "-q", "-w", "none", "-Q", ".", "Ledger", f"{name}.v"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{name}.v: {done.stderr}"
        yield done.stdout


def test_the_files_are_what_the_ledger_generates(tmp_path):
    assert run(["prove", "--coq", str(tmp_path)]) == 0
    made = {path.stem: path.read_text() for path in tmp_path.glob("*.v")}
    stored = {path.stem: path.read_text() for path in FOLDER.glob("*.v")}
    assert made == {name: text for name, text in stored.items() if name not in BY_HAND}
    lemmas = [line for text in made.values() for line in text.splitlines() if "Lemma " in line]
    assert len(lemmas) >= 150
    for name in (
        "kv_log_ratio_sharp",
        "bg_pinsker_bernoulli",
        "kl_log_sum_sign",
        "mm_constant_131",
    ):
        assert any(line.startswith(f"Lemma {name} :") for line in lemmas)


def test_a_statement_is_printed_as_it_stands():
    _, claim = ledger.find_claim(RESULTS, "kv.sharp-growth")
    assert statement(claim) == (
        "forall v_epsilon v_p : R,\n  0 < v_epsilon ->\n  0 <= v_p ->\n  v_p <= 1 ->\n  "
        "1 <= (1 + (- v_p) + (v_p * (exp v_epsilon)))"
    )
    assert term(claim.left) == "1"


def test_no_lemma_is_admitted():
    for path in FOLDER.glob("*.v"):
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Abort)\b", path.read_text())


def test_theorems_name_what_coq_holds():
    named = [t.coq for t in ledger.theorems(RESULTS).values() if t.coq]
    assert len(named) >= 8
    for words in named:
        theorem, file = re.match(r"`(\w+)` in coq/(\w+)\.v", words).groups()
        assert f"Theorem {theorem} :" in (FOLDER / f"{file}.v").read_text()


def test_structure_md_quotes_the_theorem():
    page = (FOLDER.parent / "structure.md").read_text()
    quote = re.search(r"^    Theorem private_event.*?\.\n\n", page, re.M | re.S).group(0)
    assert textwrap.dedent(quote).strip() in (FOLDER / "privacy.v").read_text()


@needs_coq
def test_coq_accepts_the_theorems_with_the_axioms_of_the_reals_alone(tmp_path):
    said = "".join(compile_all(tmp_path, THEOREMS))
    assert said.count("Axioms:") >= len(THEOREMS)
    axioms = set(re.findall(r"^(\w+(?:\.\w+)+)\s*:", said, re.M))
    assert axioms <= {
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }


@pytest.mark.slow
@needs_coq
def test_coq_accepts_the_generated_files(tmp_path):
    names = ["prelude", *modules(list(RESULTS.values()))]
    assert len(list(compile_all(tmp_path, names))) == len(names)
