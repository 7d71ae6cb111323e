"""Which files a claim rests on: a change in one of them makes the lock stale, others do not."""

from __future__ import annotations

import sys
from importlib.metadata import version
from types import ModuleType

import pytest
from gate_samples import MINE, forget, spoil, write

from dpaudit import sources
from dpaudit.subject.naming import subject_of

HELPED = MINE.replace(
    "from dpaudit.core.scores import Affine",
    "from dpaudit.core.scores import Affine\nfrom helper import bonus",
)


def found_from(folder, target):
    subject = subject_of(target, folder)
    return sources.sources_of(subject.text, subject.source, folder)


def now(folder, target="mine.py:Mine"):
    forget("mine", "helper")
    return found_from(folder, target).files


def test_comments_count_and_line_endings_do_not(project):
    before = now(project)
    (project / "mine.py").write_bytes(MINE.replace("\n", "\r\n").encode())
    assert now(project) == before
    write(project, MINE + "# a comment\n")
    assert now(project) != before


def test_the_same_files_by_class_instance_function_and_black_box(project):
    before = now(project)
    for name in ("private", "made", "coin", "Greedy"):
        assert now(project, f"mine.py:{name}") == before
    assert now(project, "mine:Mine") == before


def test_another_file_of_the_same_name_does_not_count(project, tmp_path_factory, monkeypatch):
    before = now(project)
    source = subject_of("mine.py:Mine", project).source
    other = tmp_path_factory.mktemp("other") / "mine.py"
    other.write_text("")
    monkeypatch.setitem(sys.modules, "mine", ModuleType("mine"))
    monkeypatch.setattr(sys.modules["mine"], "__file__", str(other), raising=False)
    assert sources.digests(str(project / "mine.py:Mine"), source, project) == before


def test_an_imported_neighbour_counts_and_others_do_not(project):
    write(project, "bonus = 2\n", "helper.py")
    write(project, "other = 1\n", "unrelated.py")
    write(project, HELPED)
    before = now(project)
    assert set(before) == {"mine.py", "helper.py", "dpaudit.core"}
    write(project, "other = 2\n", "unrelated.py")
    assert now(project) == before
    write(project, "bonus = 3\n", "helper.py")
    after = now(project)
    assert {name for name in before if before[name] != after[name]} == {"helper.py"}


def test_imports_inside_functions_and_of_imports_count(project):
    write(project, "import deeper\n", "helper.py")
    write(project, "x = 1\n", "deeper.py")
    spoil(project, "        scale =", "        import helper\n        scale =")
    assert set(now(project)) == {"mine.py", "helper.py", "deeper.py", "dpaudit.core"}


def test_relative_imports_and_packages(project):
    package = project / "shop" / "bandits"
    package.mkdir(parents=True)
    write(project / "shop", "", "__init__.py")
    write(package, "", "__init__.py")
    write(package, "bonus = 1\n", "helper.py")
    write(project / "shop", "level = 1\n", "levels.py")
    text = HELPED.replace("from helper", "from .helper")
    write(package, f"from ..levels import level\nfrom .. import levels\n{text}", "own.py")
    try:
        found = now(project, "shop.bandits.own:Mine")
    finally:
        forget("shop", "shop.levels", "shop.bandits", "shop.bandits.own", "shop.bandits.helper")
    assert set(found) == {
        "dpaudit.core", "shop/__init__.py", "shop/levels.py", "shop/bandits/__init__.py",
        "shop/bandits/helper.py", "shop/bandits/own.py",
    }  # fmt: skip


def test_installed_packages_below_the_project_do_not_count(project, monkeypatch):
    installed = project / "venv" / "site-packages"
    installed.mkdir(parents=True)
    monkeypatch.syspath_prepend(installed)
    write(installed, "bonus = 1\n", "helper.py")
    write(project, HELPED)
    assert set(now(project)) == {"mine.py", "dpaudit.core"}


def test_a_target_outside_the_folder_of_the_lock(project):
    inner, outer = project / "privacy", project / "src"
    inner.mkdir()
    outer.mkdir()
    write(outer, HELPED)
    write(outer, "bonus = 1\n", "helper.py")
    write(inner, "x = 1\n", "helper.py")
    (project / "mine.py").unlink()
    forget("mine", "helper")
    found = found_from(inner, "../src/mine.py:Mine")
    assert set(found.files) == {"../src/mine.py", "../src/helper.py", "dpaudit.core"}


def test_what_is_imported_from_anywhere_else_counts(project, tmp_path_factory, monkeypatch):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.syspath_prepend(elsewhere)
    (elsewhere / "spaces").mkdir()
    write(elsewhere, "from spaces import levels\nbonus = 1\n", "far_helper.py")
    write(elsewhere / "spaces", "level = 1\n", "levels.py")
    (elsewhere / "far_binary.so").write_bytes(b"\x7fELF")
    write(project, HELPED.replace("from helper", "import far_binary\nfrom far_helper"))
    found = sources.files("mine.py:Mine", None, project)
    names = {path.name for path in found if not path.is_relative_to(sources.CORE)}
    assert names == {"mine.py", "far_helper.py", "levels.py", "far_binary.so"}


def test_installed_packages_are_recorded_by_version(project, monkeypatch):
    monkeypatch.setattr(sources, "_distributions", lambda: {"yaml": ["msgspec"]})
    write(project, f"import json, numpy.random, yaml, nothing_of_this_name\n{MINE}")
    found = sources.sources_of("mine.py:Mine", None, project).packages
    assert found["numpy"] == version("numpy") and found["yaml"] == version("msgspec")
    assert not set(found) & {"json", "dpaudit", "nothing_of_this_name", "dataclasses"}


def test_a_base_class_of_the_core_counts(project, monkeypatch, tmp_path_factory):
    found = sources.files("mine.py:Mine", subject_of("mine.py:Mine", project).source, project)
    names = {path.name for path in found}
    assert {"mine.py", "episodes.py", "algorithm.py", "noise.py", "scores.py"} <= names
    assert not names & {"judging.py", "prove.py", "likelihood.py", "cli.py"}


@pytest.mark.parametrize("name", ["adap_klucb", "dp_se"])
def test_an_algorithm_of_dpaudit_rests_on_the_core_alone(project, name):
    assert set(now(project, name)) == {"dpaudit.core"}
    found = sources.files(name, subject_of(name).source, project)
    assert f"{name}.py" in {path.name for path in found}


def test_the_engine_has_a_digest_of_its_own():
    assert len(sources.engine_digest()) == 64
    assert sources.versions()["engine"] == sources.engine_digest()[:16]
