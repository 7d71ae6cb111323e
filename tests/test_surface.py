"""`import dpaudit`: the public functions, what they return and how that shows itself."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from dataclasses import replace
from html.parser import HTMLParser

import pytest

import dpaudit
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.errors import InvalidArgument
from dpaudit.verdict import Finding, Status

QUICK = {"horizon": 1e2, "exact_horizon": 3, "method": "structure,exact"}


def test_the_public_surface_is_seen_typed_and_documented():
    wanted = {
        "assert_global_dp", "audit", "bounds", "check", "likelihood", "load", "prove", "simulate",
        "worst_loss",
    }  # fmt: skip
    assert set(dpaudit.__all__) == wanted <= set(dir(dpaudit))
    for name in wanted:
        function = getattr(dpaudit, name)
        assert inspect.isfunction(function) and function.__doc__
        assert "return" in function.__annotations__
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        _ = dpaudit.chekc


def test_importing_it_imports_nothing_heavy():
    code = (
        "import sys, dpaudit; dir(dpaudit); "
        "assert not {'numpy', 'scipy', 'rich', 'dpaudit.surface'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_functions_are_not_hidden_by_modules_of_the_package():
    import dpaudit.examination  # imports all that a check needs

    assert callable(dpaudit.check) and callable(dpaudit.bounds)
    assert dpaudit.structure.prove(AdapUCB(arms=2), 50).status is Status.PROVED


@pytest.fixture(scope="module")
def refuted():
    return dpaudit.check("mutants/noise_halved", epsilon=1, **(QUICK | {"exact_horizon": 5}))


def test_a_report_prints_as_the_terminal_shows_it(refuted, capsys):
    from dpaudit.cli import run

    words = ["check", "mutants/noise_halved", "--epsilon", "1", "--horizon", "1e2"]
    assert run([*words, "--exact-horizon", "5", "--method", "structure,exact"]) == 1
    shown = capsys.readouterr().out

    def stable(text):
        lines = [line for line in text.splitlines() if "dpaudit check" not in line]
        return " ".join(" ".join(lines).split()).split(" [")[0]

    assert stable(str(refuted)) == stable(shown)
    assert "REFUTED" in str(refuted) and "Counterexample with" in str(refuted)


def test_a_card_is_whole_html_with_the_bracket(refuted):
    class Balance(HTMLParser):
        depth, seen = 0, frozenset()

        def handle_starttag(self, tag, attributes):
            self.depth += 1
            self.seen |= {tag}

        def handle_endtag(self, tag):
            self.depth -= 1

    found = Balance()
    found.feed(refuted._repr_html_())
    assert found.depth == 0 and {"svg", "details", "table"} <= found.seen
    assert "REFUTED" in refuted._repr_html_() and "\u2264 2" in refuted._repr_html_()


def test_objects_names_and_files_are_judged_alike(tmp_path):
    (tmp_path / "own.py").write_text(
        "from dpaudit.core.algorithms.adap_ucb import AdapUCB as Mine\nmine = Mine(arms=3)\n"
    )
    reports = [
        dpaudit.check(AdapUCB, arms=3, **QUICK),
        dpaudit.check(AdapUCB(arms=3), **QUICK),
        dpaudit.check("adap_ucb", arms=3, **QUICK),
        dpaudit.check(f"{tmp_path / 'own.py'}:mine", **QUICK),
    ]
    assert [it.verdict for it in reports] == [Status.PROVED] * 4
    assert {(it.claim.arms, it.lower, it.upper) for it in reports} == {(3, reports[0].lower, 1.0)}


def test_proofs_audits_simulations_and_bounds():
    finding = dpaudit.prove("adap_ucb", horizon=1e3)
    assert (finding.check, finding.status) == ("structure", Status.PROVED)
    found = dpaudit.audit("ucb", 1.0, horizon=16, runs=1e3)
    assert found.refuted and str(found).startswith("REFUTED") and found.lower >= 1
    result = dpaudit.simulate("adap_ucb", means=(0.9, 0.5), horizon=1e3, runs=3, alpha=2.0)
    assert result.runs == 3 and result.parameters["alpha"] == 2.0
    bounds = dpaudit.bounds(means=(0.9, 0.5), horizon=1e4)
    assert bounds.data["horizon"] == 10_000 and "every private policy" in str(bounds)
    assert max(map(len, str(bounds).splitlines())) <= 100


def test_bad_input_names_argument_and_value():
    for call, said in (
        (lambda: dpaudit.check("adap_ucb", epsilon=-1), "epsilon=-1 must be"),
        (lambda: dpaudit.check("adap_ucb", horizon=1.5), "horizon=1.5 must be a whole"),
        (lambda: dpaudit.check(3), "algorithm=int must be"),
        (lambda: dpaudit.simulate("adap_ucb", "C1", means=(0.5,)), "cannot be combined"),
        (lambda: dpaudit.audit(AdapUCB(arms=2)), "target=AdapUCB must be a name or file.py:object"),
        (lambda: dpaudit.simulate(AdapUCB), "target=AdapUCB must be a name or file.py:object"),
        (lambda: dpaudit.bounds(algorithms=[AdapUCB]), "target=AdapUCB must be a name or file"),
        (lambda: dpaudit.likelihood(AdapUCB(arms=2), [0, 1], [0, 2]), "reward=2.0 must lie in"),
        (lambda: dpaudit.likelihood(AdapUCB(arms=2), [0, 1], ["x", 2]), "rewards=.* must be numb"),
        (lambda: dpaudit.likelihood(AdapUCB(arms=2), [0, 0.5], [0, 1]), "actions=.* must be whole"),
        (lambda: dpaudit.likelihood(AdapUCB(arms=2), [0, "x"], [0, 1]), "actions=.* must be whole"),
        (lambda: dpaudit.likelihood(AdapUCB(arms=2), [0, 7], [0, 1]), "action=7 must lie in"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            call()


def test_hints_are_resolvable():
    from dpaudit import surface

    hints = typing.get_type_hints(surface.check)
    assert hints["return"] is surface.CheckReport


def test_a_card_has_the_name_as_it_is_and_what_runs_say(refuted):
    finding = Finding("sample", Status.REFUTED, "Seen.", 1.25, horizon=50, error=1e-6)
    shown = replace(refuted, findings=(finding,))._repr_html_()
    assert "noise_halved does not have" in shown and "Noise_halved" not in shown
    assert 'class="likely"' in shown and "1.25, by sampling" in shown


def test_results_print_as_the_terminal_shows_them_in_a_notebook_too():
    class Printer:
        shown = ""

        def text(self, words):
            self.shown += words

    proof = dpaudit.prove("adap_ucb", horizon=100)
    result = dpaudit.simulate("mutants/noise_halved", means=(0.9, 0.5), horizon=100, runs=3)
    for found, words in (
        (proof, "  structure  PROVED   epsilon*(100) <= 1."),
        (result, "regret  mean"),
    ):
        printer = Printer()
        found._repr_pretty_(printer, False)
        assert printer.shown == str(found) and words in printer.shown
        assert max(map(len, str(found).splitlines())) <= 100
    assert str(result).startswith("mutants/noise_halved  arms=2, epsilon=1.0")


def test_what_would_take_days_asks_in_python_too():
    for call in (
        lambda: dpaudit.simulate("dp_ucb", horizon=1e13, runs=1),
        lambda: dpaudit.audit("adap_ucb", horizon=100, runs=1e15),
        lambda: dpaudit.bounds(algorithms=("dp_ucb",), runs=1e12),
    ):
        with pytest.raises(InvalidArgument, match="is long; add --yes .in Python, yes=True."):
            call()


def test_a_name_has_two_arms_and_is_no_algorithm_by_itself():
    assert dpaudit.load("adap_klucb").arms == 2
    for call in (
        lambda: dpaudit.likelihood("adap_ucb", [0, 1], [0.0, 1.0]),
        lambda: dpaudit.worst_loss("adap_ucb", 3),
        lambda: dpaudit.structure.prove("adap_ucb", 3),
    ):
        with pytest.raises(InvalidArgument, match="algorithm='adap_ucb' must be an Algorithm"):
            call()
