"""The handbook: every command is run, every shown output is the real one, every link leads on."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
specification = importlib.util.spec_from_file_location("handbook_build", DOCS / "build.py")
build = importlib.util.module_from_spec(specification)
sys.modules["handbook_build"] = build
specification.loader.exec_module(build)
REMEDY = "rewrite the handbook's outputs with: python docs/build.py"


@pytest.mark.parametrize("path", build.chapters(), ids=lambda path: path.name)
def test_shown_outputs_are_the_real_ones(path):
    source = path.read_text(encoding="utf-8")
    again = build.rebuilt(source)
    shown, real = build.consoles(source), build.consoles(again)
    for before, after in zip(shown, real, strict=True):
        assert build.settled(before) == build.settled(after), REMEDY
    # nothing but outputs may differ
    assert build.BLOCK.sub("", source) == build.BLOCK.sub("", again)


def test_every_chapter_has_commands():
    counts = {p.name: len(build.consoles(p.read_text(encoding="utf-8"))) for p in build.chapters()}
    counts.pop("README.md")
    assert counts and all(counts.values()), counts


@pytest.mark.parametrize("path", build.chapters(), ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    source = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", source):
        if not target.startswith("http"):
            assert (DOCS / target).exists(), target
    if path.name == "README.md":
        linked = set(re.findall(r"\]\((\S+\.md)\)", source))
        assert linked == {p.name for p in build.chapters()} - {"README.md"} | build.ELSEWHERE


def test_a_wrong_output_is_noticed(tmp_path):
    """The comparison can fail: in numbers, and in line breaks where no seconds are shown."""
    right = "```console\n$ python -m dpaudit --version\ndpaudit 0.1.0\n```\n"
    wrong = right.replace("0.1.0", "0.2.0")
    [real] = build.consoles(build.rebuilt(wrong))
    assert build.settled(real) != build.settled(build.consoles(wrong)[0])
    assert build.settled("a b") != build.settled("a  b")
    assert build.settled("a [1.2 s]\nb") == build.settled("a\n[10.4 s] b")
    assert build.settled("a 2 [1.2 s]") != build.settled("a 3 [1.2 s]")


def test_only_dpaudit_may_be_run():
    with pytest.raises(ValueError, match="may only run"):
        build.printed("rm -rf somewhere")
