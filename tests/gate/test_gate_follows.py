"""However a file is imported, a change in it turns the gate red."""

from __future__ import annotations

import pytest
from gate_samples import MINE, command, forget, write

from dpaudit.gate.compare import changed_sources
from dpaudit.sources import digests

TINY = ("--horizon", "50", "--method", "structure")
IMPORTS = {
    "from package import module": "from pkg import inner",
    "import package.module": "import pkg.inner",
    "import package.module as name": "import pkg.inner as it",
    "from package.module import name": "from pkg.inner import width",
    "several names": "from pkg import other, inner",
    "inside a function": "def later():\n    from pkg import inner\n    return inner",
    "inside a try": "try:\n    from pkg import inner\nexcept ImportError:\n    inner = None",
    "through the package": "import pkg",
    "relative, through the package": "from pkg import relay",
    "relative, two levels up": "from pkg.deep import relay",
}


@pytest.fixture
def package(project):
    """A package whose parts import one another in several ways."""
    folder = project / "pkg"
    (folder / "deep").mkdir(parents=True)
    write(folder, "", "__init__.py")
    write(folder, "width = 1\n", "inner.py")
    write(folder, "", "other.py")
    write(folder, "from . import inner\n", "relay.py")
    write(folder / "deep", "", "__init__.py")
    write(folder / "deep", "from .. import inner\n", "relay.py")
    yield folder
    forget(*(f"pkg{it}" for it in ("", ".inner", ".other", ".relay", ".deep", ".deep.relay")))


def now(project):
    """The digests of the target; nothing of it is run."""
    return digests("mine.py:Mine", None, project)


@pytest.mark.parametrize("how", IMPORTS)
def test_an_imported_file_counts(package, how):
    project = package.parent
    if how == "through the package":
        write(package, "from .inner import width\n", "__init__.py")
    write(project, f"{IMPORTS[how]}\n{MINE}")
    before = now(project)
    assert "pkg/inner.py" in before
    write(package, "width = 2\n", "inner.py")
    after = now(project)
    assert {name for name in before if before[name] != after[name]} == {"pkg/inner.py"}


def test_a_file_that_appears_or_vanishes_is_a_change(package):
    project = package.parent
    write(project, f"try:\n    from pkg import extra\nexcept ImportError:\n    pass\n{MINE}")
    before = now(project)
    write(package, "x = 1\n", "extra.py")
    after = now(project)
    assert changed_sources(before, after) == ["pkg/extra.py (new)"]
    assert changed_sources(after, before) == ["pkg/extra.py (gone)"]
    assert changed_sources(after, after) == []


def test_the_gate_is_red_by_a_change_in_an_imported_file(package, capsys):
    project = package.parent
    write(project, f"from pkg import inner\n{MINE}")
    assert command(capsys, "lock", "mine.py:Mine", *TINY)[0] == 0
    write(package, "width = 2\n", "inner.py")
    code, out, err = command(capsys, "gate")
    assert code == 4
    assert "inner.py" in out + err
