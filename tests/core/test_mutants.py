"""Mutants: what their files say, the right code they spoil, and the nearest flaw of other code."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpaudit.cli import run
from dpaudit.core.algorithm import Rows
from dpaudit.core.algorithms import find as find_algorithm
from dpaudit.core.algorithms import load
from dpaudit.core.algorithms import names as algorithm_names
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.lazy_dp_ucb import LazyDPUCB
from dpaudit.core.handwritten import Elimination, HandwrittenDoubling, Tree
from dpaudit.core.mutant import scaled
from dpaudit.core.mutants import find, names, nearest_flaw
from dpaudit.core.noise import Gaussian, NoNoise
from dpaudit.core.stream import run_stream
from dpaudit.errors import UnknownName
from dpaudit.sample.adapters import drive
from dpaudit.sample.boxes import DeclaredBox, PolicyBox
from dpaudit.target import resolve
from dpaudit.trial import box_of, pairs_of

FAMILIES = {"noise", "sensitivity", "forgetting", "control", "tree", "elimination", "float"}
FAMILIES |= {"local"}
PAGE = Path(__file__).parents[2] / "docs" / "mutants.md"


@pytest.mark.parametrize("name", names())
def test_a_file_says_what_is_wrong_in_one_sentence(name):
    mutant = find(name)
    assert re.fullmatch(r"[A-Z][^\n]{10,98}\.", mutant.flaw)
    assert mutant.family in FAMILIES
    assert mutant.declared or mutant.exact is None
    assert bool(mutant.refuted_by) != bool(mutant.why_not)


def test_every_family_has_several_and_no_two_flaws_are_the_same():
    mutants = [find(name) for name in names()]
    families = [mutant.family for mutant in mutants]
    assert all(families.count(family) >= 3 for family in FAMILIES)
    assert len({mutant.flaw for mutant in mutants}) == len(mutants) >= 30


def test_the_page_lists_every_mutant_with_its_flaw():
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|(.*)$", page, re.MULTILINE))
    flaws = dict(re.findall(r"^- `(\w+)` \(\w+\): (.*)$", page, re.MULTILINE))
    assert sorted(rows) == sorted(flaws) == names()
    for mutant in map(find, names()):
        assert flaws[mutant.name].startswith(mutant.flaw)
        *_, exact, sample, _ = (cell.strip() for cell in rows[mutant.name].split("|"))
        assert exact.startswith("REFUTED") == (mutant.exact is not None)
        assert sample.startswith("REFUTED") or mutant.sample is None


RIGHT = [(HandwrittenDoubling, "adap_ucb", 60), (Tree, "dp_ucb", 40), (Elimination, "dp_se", 6000)]


@pytest.mark.parametrize(("written", "name", "horizon"), RIGHT)
def test_the_right_handwritten_code_plays_like_the_declaration(written, name, horizon):
    known = {"horizon": horizon} if name != "adap_ucb" else {}
    played = set()
    for seed in range(20):
        arms = 2 + seed % 2
        pieces = np.random.default_rng(seed).integers(0, 3, 20) / 2
        stream = np.repeat(pieces, horizon // 20)
        declared = load(name, arms=arms, epsilon=1.0, **known)
        wanted = run_stream(declared, stream, np.random.default_rng(seed)).actions
        rng = np.random.default_rng(seed)
        policy = written(arms=arms, horizon=horizon, epsilon=1.0, rng=rng)
        actions = drive(policy, stream, arms, rng, name)
        assert actions.tolist() == wanted.tolist()
        played.add(tuple(actions))
    assert len(played) >= 4


def test_boxes_and_pairs_of_both_kinds():
    assert isinstance(box_of(find("noise_none"), 16), DeclaredBox)
    box = box_of(find("elimination_raw_maximum"), 9_000)
    assert isinstance(box, PolicyBox)
    assert (box.name, box.arms) == ("mutants/elimination_raw_maximum", 5)
    (pair,) = pairs_of(find("elimination_raw_maximum"), 9_000, 0)
    assert pair.stream.horizon == 9_000
    assert pair.stream.at(pair.position) != pair.value


def test_a_mutant_claims_its_own_epsilon_by_default():
    assert resolve("mutants/noise_inverted").build(100, {"arms": 2}).claim.epsilon == 0.5
    assert resolve("mutants/noise_inverted").label == "noise_inverted"


def test_list_shows_mutants_on_request_only(capsys):
    assert run(["list"]) == 0
    assert "noise_halved" not in capsys.readouterr().out
    assert run(["list", "--mutants"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == len(names()) + 1
    assert all(find(name).flaw in line for name, line in zip(names(), table[1:], strict=True))
    assert run(["list", "--mutants", "--json", "-"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert sorted(rows) == names()
    assert rows["noise_099"]["exact"] == {"horizon": 4}
    assert rows["float_saturated"]["exact"] is rows["float_saturated"]["sample"] is None


def test_commands_take_mutants_as_targets(capsys):
    words = ["--method", "structure,exact", "--horizon", "8", "--budget", "60"]
    assert run(["check", "mutants/noise_099", *words]) == 1
    assert "mutants/noise_099" in capsys.readouterr().out
    assert run(["audit", "mutants/noise_shared", "--horizon", "16", "--runs", "2000"]) == 1
    assert "mutants/noise_shared" in capsys.readouterr().out
    assert run(["check", "mutants/noise_shared", "--horizon", "16"]) == 1
    assert "handwritten.py" in capsys.readouterr().out
    assert run(["check", "mutants/noise_hlaved"]) == 2
    assert "Did you mean 'noise_halved'?" in capsys.readouterr().err
    with pytest.raises(UnknownName):
        find("nothing")


@dataclass(frozen=True, kw_only=True)
class OfOnesOwn(LazyDPUCB):
    """A wrong algorithm of someone else's: the release is replaced in each test."""

    kind: str = "right"

    def release(self, rows: Rows):
        right = super().release(rows)
        match self.kind:
            case "half":
                return scaled(right, Fraction(1, 2))
            case "hair":
                return scaled(right, Fraction(97, 100))
            case "plain":
                return replace(right, noise=NoNoise())
            case "gauss":
                return replace(right, noise=Gaussian(variance=1.0))
            case "history":
                return replace(right, rows=Rows(rows.arm, 0, rows.stop))
            case "count":
                return replace(right, divisor=Fraction(len(rows), 2))
        return right


@pytest.mark.parametrize(
    ("kind", "nearest"),
    [
        ("half", {"noise_halved", "sensitivity_all_pulls"}),
        ("hair", {"noise_095", "noise_099"}),
        ("plain", {"noise_none"}),
        ("gauss", {"noise_gaussian"}),
        ("history", {"forgetting_history", "forgetting_sums"}),
        ("count", {"sensitivity_wrong_count", "sensitivity_range"}),
    ],
)
@pytest.mark.parametrize("arms", [2, 3])
def test_the_nearest_flaw_of_other_code(kind, nearest, arms):
    flaw = nearest_flaw(OfOnesOwn(arms=arms, kind=kind), 1.0)
    assert flaw in {find(name).flaw for name in nearest}


def test_right_code_and_unknown_code_have_no_flaw():
    assert nearest_flaw(OfOnesOwn(arms=2), 1.0) is None
    assert nearest_flaw(HandwrittenDoubling(arms=2, horizon=9, epsilon=1.0, rng=None), 1.0) is None
    assert nearest_flaw(object(), 1.0) is None
    for name in algorithm_names():
        if find_algorithm(name).private:
            known = {"horizon": 5_000} if find_algorithm(name).told() else {}
            algorithm = load(name, arms=2, **known)
            if algorithm.claim.notion.plain:
                assert nearest_flaw(algorithm, 1.0) is None


def test_a_claim_that_is_too_bold_is_too_little_noise():
    assert nearest_flaw(AdapUCB(arms=2, epsilon=2.0), 1.0) == find("noise_halved").flaw


@pytest.mark.parametrize("name", [name for name in names() if find(name).declared])
def test_a_mutant_is_nearest_to_itself_or_to_its_like(name):
    mutant = find(name)
    given = {"arms": 2, "epsilon": mutant.epsilon}
    algorithm = resolve(mutant.target).build(1_000_000, given)
    assert nearest_flaw(algorithm, mutant.epsilon) is not None
