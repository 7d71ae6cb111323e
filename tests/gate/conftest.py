import pytest
from gate_samples import forget, write


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty repository with one algorithm, as the working directory."""
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    forget("mine", "helper")
    yield tmp_path
    forget("mine", "helper")
