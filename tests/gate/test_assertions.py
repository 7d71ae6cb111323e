"""`assert_global_dp`: what it accepts, what it requires, and what a failure says."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from gate_samples import HALVED, command, forget, spoil

import dpaudit
from dpaudit.core.algorithms import load
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.scores import Affine
from dpaudit.errors import DpauditError
from dpaudit.testing import PrivacyViolation, assert_global_dp, audit_global_dp
from dpaudit.verdict import Status

QUICK = {"horizon": 1000, "method": "structure,exact"}


@pytest.fixture
def mine(project):
    import mine

    yield mine
    forget("mine")


def test_it_is_offered_by_the_package():
    assert dpaudit.assert_global_dp is assert_global_dp


def test_every_way_to_name_an_algorithm(mine):
    ways = ["mine.py:Mine", "mine:Mine", mine.Mine, mine.private, mine.made, "mine.py:private"]
    for way in ways:
        report = assert_global_dp(way, 1, **QUICK)
        assert report.verdict is Status.PROVED
        assert report.upper == 1.0
    assert assert_global_dp("adap_ucb", horizon=1000, method="structure").claim.epsilon == 1.0
    assert (
        assert_global_dp(mine.Mine, arms=3, epsilon=0.5, horizon=99, method="structure").upper
        == 0.5
    )


def test_an_instance_is_judged_as_it_is(mine):
    for way in (mine.generous, "mine.py:generous"):
        assert assert_global_dp(way, **QUICK).claim.epsilon == 2.0
        with pytest.raises(PrivacyViolation, match="judged at epsilon=1.0"):
            assert_global_dp(way, 1, **QUICK)


def test_an_instance_that_knows_its_horizon_is_judged_at_it():
    instance = load("dp_se", arms=2, epsilon=1.0, horizon=50)
    report = audit_global_dp(instance, method="structure")
    assert report.claim.horizon == 50


def test_a_failure_shows_the_counterexample_and_replays_it(project, capsys):
    spoil(project, *HALVED)
    with pytest.raises(PrivacyViolation) as caught:
        assert_global_dp("mine.py:Mine", 1, **QUICK)
    text = str(caught.value)
    for said in (
        "required: proved; found: REFUTED  mine.py:Mine epsilon=1.0",
        "structure  SILENT", "actions     0 1 0", "stream      0 0 0", "neighbour   0 1 0",
        "one reward differs, at round 2", "on the stream", "on its neighbour", "Replay: ",
    ):  # fmt: skip
        assert said in text
    line = text.splitlines()[-1]
    assert command(capsys, *line.split("dpaudit ", 1)[1].split())[0] == 0


def test_a_file_below_that_imports_its_neighbour_can_be_replayed(project):
    below = project / "src"
    below.mkdir()
    text = (project / "mine.py").read_text().replace(*HALVED)
    (below / "leaky.py").write_text(f"import neighbour_of_leaky\n{text}")
    (below / "neighbour_of_leaky.py").write_text("")
    with pytest.raises(PrivacyViolation) as caught:
        assert_global_dp("src/leaky.py:Mine", 1, **QUICK)
    words = str(caught.value).splitlines()[-1].split("python ", 1)[1].split()
    environment = {**os.environ, "PYTHONPATH": str(Path(dpaudit.__file__).parents[1])}
    done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "CONFIRMED" in done.stdout


def test_the_nearest_known_flaw_is_named(project):
    spoil(project, *HALVED)
    with pytest.raises(PrivacyViolation, match="Nearest known flaw: Noise of half the right scale"):
        assert_global_dp("mine.py:Mine", 1, **QUICK)


def test_what_is_required(project):
    assert_global_dp("mine.py:Mine", 1, horizon=4, method="exact", require="holds")
    with pytest.raises(PrivacyViolation, match="required: proved; found: HOLDS"):
        assert_global_dp("mine.py:Mine", 1, horizon=4, method="exact")
    spoil(project, *HALVED)
    assert_global_dp("mine.py:Mine", 1, horizon=9, method="structure", require="not refuted")
    with pytest.raises(PrivacyViolation, match="required: holds; found: SILENT"):
        assert_global_dp("mine.py:Mine", 1, horizon=9, method="structure", require="holds")


def test_black_boxes(mine, capsys):
    report = assert_global_dp(mine.coin, 1, horizon=6, runs=64)
    assert report.verdict is Status.SILENT
    with pytest.raises(PrivacyViolation, match="required: holds; found: SILENT"):
        assert_global_dp(mine.coin, 1, horizon=6, runs=64, require="holds")
    with pytest.raises(PrivacyViolation) as caught:
        assert_global_dp(mine.Greedy, 1, horizon=6, runs=256)
    text = str(caught.value)
    assert "required: not refuted; found: REFUTED" in text
    assert "Pair:" in text and "Event:" in text
    line = text.splitlines()[-1]
    assert line.startswith("Replay: python -m dpaudit audit mine.py:Greedy --replay .dpaudit/")
    code, out, _ = command(capsys, *line.split("dpaudit ", 1)[1].split())
    assert code == 1 and "REFUTED again" in out


def test_a_class_that_no_command_line_can_name_has_no_replay_line(project):
    @dataclass(frozen=True, kw_only=True)
    class Local(DoublingEpisodes):
        def rule(self, pulls, time, m):
            return Affine(m.log(time) / pulls)

    assert_global_dp(Local, 1, **QUICK)
    with pytest.raises(PrivacyViolation) as caught:
        assert_global_dp(Local(arms=2, epsilon=3.0), 1, **QUICK)
    assert "actions" in str(caught.value) and "Replay" not in str(caught.value)


def test_black_boxes_without_a_file(mine):
    class Coin:
        def __call__(self, stream, rng):
            return mine.coin(stream, rng)

    for box in (functools.partial(mine.coin), Coin(), lambda stream, rng: mine.coin(stream, rng)):
        report = assert_global_dp(box, 1, horizon=6, runs=64)
        assert ":" not in report.claim.target


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((3,), {}, "algorithm=int"),
        (("adap_ucb", -1), {}, "epsilon=-1 must be positive"),
        (("adap_ucb", "1"), {}, "epsilon=1 must be a number"),
        (("adap_ucb",), {"require": "sure"}, "No requirement 'sure'"),
        (("adap_ucb",), {"method": "magic"}, "No method 'magic'"),
        (("adap_ucb",), {"method": ()}, "must name a check"),
        (("adap_ucb",), {"horizn": 3}, "horizn=3 is not a parameter of adap_ucb"),
        (("adap_ucb",), {"arms": 1}, "arms=1 must be at least 2"),
        (("adap_ucb",), {"seed": -1}, "seed=-1"),
    ],
)
def test_bad_input(arguments, options, said):
    with pytest.raises(DpauditError, match=said):
        assert_global_dp(*arguments, **options)


def test_nothing_heavy_is_imported_at_start():
    code = (
        "import sys; import dpaudit.pytest_plugin, dpaudit.testing;"
        "print([m for m in ('numpy', 'scipy', 'numba', 'flint', 'rich', 'msgspec', 'hypothesis')"
        " if m in sys.modules])"
    )
    root = Path(dpaudit.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
