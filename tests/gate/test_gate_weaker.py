"""A lock does not get weaker without a reason, and what it is about does not change its kind."""

from __future__ import annotations

import pytest
from gate_samples import HALVED, command, forget, spoil, write

from dpaudit.gate import lock as locks
from dpaudit.gate.compare import lowered
from dpaudit.gate.lock import sizes_of
from dpaudit.options import Options

LEAK = ("[int(rng.random() < 0.5) for _ in stream]", "[0, *map(int, stream[:-1])]")


BOX = []


@pytest.fixture
def box(project, capsys):
    """A lock of a black box, SILENT, judged once for all tests."""
    path = project / "dpaudit.lock"
    if not BOX:
        assert command(capsys, "lock", "mine.py:coin", "--runs", "200", "--horizon", "4")[0] == 0
        BOX.append(path.read_text())
    path.write_text(BOX[0])
    return path


def test_fewer_runs_do_not_turn_a_refuted_claim_green(box, capsys):
    words = ("--runs", "32", "--seed", "3")
    spoil(box.parent, *LEAK)
    before = box.read_bytes()
    code, out, err = command(capsys, "lock", "--update", *words)
    assert (code, err.count("\n")) == (1, 1) and out.startswith("SILENT")
    assert "REFUTED with the options that are locked" in err
    assert "32 runs, locked were 200" in err
    assert box.read_bytes() == before
    assert command(capsys, "lock", "--update", *words, "--reason", "a toy")[0] == 0
    [kept] = locks.read(box).history
    assert "REFUTED with" in kept.change and "32 runs" in kept.change and kept.reason == "a toy"


def test_less_time_does_not_turn_a_refuted_claim_green(project, capsys):
    words = ("--method", "exact", "--horizon", "4", "--exact-horizon", "4")
    assert command(capsys, "lock", "mine.py:Mine", *words)[0] == 0
    spoil(project, *HALVED)
    before = (project / "dpaudit.lock").read_bytes()
    code, _, err = command(capsys, "lock", "--update", "--budget", "0.01")
    assert code == 1 and "0.01 seconds a claim, locked were 60.0" in err
    assert (project / "dpaudit.lock").read_bytes() == before
    code, out, err = command(capsys, "gate", "--budget", "0.01")
    assert (code, out, err.count("\n")) == (2, "", 1) and "at least as locked, 60 s" in err


def test_another_seed_needs_a_reason_and_more_runs_do_not(box, capsys):
    code, _, err = command(capsys, "lock", "--update", "--seed", "1")
    assert (code, err.count("\n")) == (4, 1) and "seed 1, locked was 0" in err
    assert command(capsys, "lock", "--update", "--runs", "240", "--budget", "61")[0] == 0
    found = locks.read(box)
    assert (found.claims[0].options.runs, found.history) == (240, [])


LOCKED = Options(None, {}, 1000, 6, ("structure", "exact", "sample"), 0, 60.0, 2000)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"horizon": 2000, "exact_horizon": 7, "runs": 2001, "budget": 61.0}, []),
        (
            {"methods": ("structure",)},
            ["the exact check is dropped", "the sample check is dropped"],
        ),
        ({"exact_horizon": 5}, ["5 rounds of exact, locked were 6"]),
        ({"runs": 1999}, ["1,999 runs, locked were 2,000"]),
        ({"budget": 59.5}, ["59.5 seconds a claim, locked were 60.0"]),
        ({"seed": 1}, ["seed 1, locked was 0"]),
    ],
)
def test_which_options_are_weaker(change, said):
    assert lowered(sizes_of(LOCKED), sizes_of(Options(**(vars(LOCKED) | change)))) == said


OTHERS = {
    "a function": "def Mine(stream, rng):\n    return [0 for _ in stream]\n",
    "a class": "class Mine:\n    def select(self): return 0\n    def update(self, a, r): pass\n",
    "a number": "Mine = 5\n",
    "a module": "import os as Mine\n",
    "a builtin": "Mine = print\n",
    "nothing": "Mine = None\n",
    "an endless function": "def Mine():\n    raise RuntimeError('called')\n",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_a_declared_class_that_has_become_something_else(locked, capsys, kind):
    write(locked.parent, OTHERS[kind])
    before = locked.read_bytes()
    code, out, err = command(capsys, "gate")
    assert (code, err) == (4, "") and "DPA006 TargetVanished" in out
    code, out, err = command(capsys, "lock", "--update", "--reason", "x")
    assert (code, err.count("\n")) == (4, 1) and "cannot be judged any more" in err
    assert locked.read_bytes() == before


def test_a_black_box_that_has_become_a_declared_class(box, capsys):
    spoil(box.parent, "def coin(stream, rng):", "coin = Mine\n\n\ndef other(stream, rng):")
    code, out, err = command(capsys, "gate")
    assert (code, err) == (4, "") and "was a black box when it was locked" in out


def test_files_elsewhere_and_versions_of_packages_are_recorded(project, capsys, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "faraway.py").write_text("bonus = 2\n")
    head = f"import sys\nsys.path.append({str(elsewhere)!r})\nimport msgspec\nimport faraway\n"
    write(project, head + (project / "mine.py").read_text())
    assert command(capsys, "lock", "mine.py:Mine", "--method", "structure")[0] == 0
    path = project / "dpaudit.lock"
    [found] = locks.read(path).claims
    [name] = [name for name in found.sources if name.endswith("faraway.py")]
    assert set(found.sources) == {"mine.py", "dpaudit.core", name}
    assert "msgspec" in found.packages
    (elsewhere / "faraway.py").write_text("bonus = 3\n")
    forget("faraway")
    code, out, _ = command(capsys, "gate")
    assert code == 4 and "faraway.py" in out
    text = path.read_text().replace(f'"msgspec": "{found.packages["msgspec"]}"', '"msgspec": "0.1"')
    path.write_text(text)
    assert command(capsys, "gate")[0] == 4  # edited by hand
    lock = locks.read_edited(path)[0]
    locks.write(path, lock)
    assert "locked with msgspec 0.1, judged with" in command(capsys, "gate")[1]
    forget("faraway")
