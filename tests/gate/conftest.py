import pytest
from gate_samples import SHORT, command, forget, write

from dpaudit import testing


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty repository with one algorithm, as the working directory."""
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    forget("mine", "helper")
    yield tmp_path
    forget("mine", "helper")


WRITTEN = {}


@pytest.fixture
def locked(project, capsys):
    """The lock of the algorithm, judged once for all tests."""
    path = project / "dpaudit.lock"
    if not WRITTEN:
        code, _, err = command(capsys, "lock", "mine.py:Mine", *SHORT)
        assert (code, err) == (0, "")
        WRITTEN["text"] = path.read_text()
    path.write_text(WRITTEN["text"])
    return path


@pytest.fixture(autouse=True)
def unheard():
    """Keep the claims of these tests, many of them false on purpose, out of this run's summary."""
    token = testing.session.set(testing.ALONE)
    yield
    testing.session.reset(token)
