"""However a file is imported, a change in it turns the gate red."""

from __future__ import annotations

import pytest
from gate_samples import MINE, command, forget, write

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


@pytest.mark.parametrize("how", IMPORTS)
def test_a_change_in_an_imported_file_is_red(package, capsys, how):
    project = package.parent
    if how == "through the package":
        write(package, "from .inner import width\n", "__init__.py")
    write(project, f"{IMPORTS[how]}\n{MINE}")
    assert command(capsys, "lock", "mine.py:Mine", *TINY)[0] == 0
    assert command(capsys, "gate")[0] == 0
    write(package, "width = 2\n", "inner.py")
    code, out, err = command(capsys, "gate")
    assert code == 4
    assert "inner.py" in out + err


def test_a_file_that_vanishes_or_appears_is_red(package, capsys):
    project = package.parent
    write(project, f"try:\n    from pkg import extra\nexcept ImportError:\n    pass\n{MINE}")
    assert command(capsys, "lock", "mine.py:Mine", *TINY)[0] == 0
    write(package, "x = 1\n", "extra.py")
    code, out, err = command(capsys, "gate")
    assert code == 4
    assert "extra.py" in out + err
    assert command(capsys, "lock", "--update")[0] == 0
    assert command(capsys, "gate")[0] == 0
    (package / "extra.py").unlink()
    forget("pkg.extra")
    code, out, err = command(capsys, "gate")
    assert code == 4
    assert "extra.py" in out + err
