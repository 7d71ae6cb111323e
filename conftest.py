"""Shared by tests/ and audits/: one start of Python for all processes of targets."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "tests"))
import warm_start

# hundreds of processes are started, which would each compile all that they import: a third of all
# time where Python is told to write no bytecode beside its sources
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    cache = Path(__file__).parent / ".pytest_cache" / "bytecode"
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(cache))


def pytest_collection_finish():
    """Leave 5,000 collected tests out of every later search for garbage: a tenth of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


@pytest.fixture(scope="session", autouse=True)
def warm():
    """Fork the processes of targets where the system can, instead of starting each anew."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        yield None
        return
    with warm_start.servers() as folder:
        yield folder


@pytest.fixture
def cold(warm):
    """Start processes of targets for real."""
    known = [(name, sys.modules[name].subprocess) for name in warm_start.CLIENTS]
    warm_start.put(subprocess)
    yield
    for name, stand_in in known:
        sys.modules[name].subprocess = stand_in
