"""The pytest plugin: privacy claims as tests, one summary line per claim, properties in JUnit XML.

It is imported whenever pytest starts, so it imports nothing heavy. What a test audits travels in
the report's `user_properties`, which pytest-xdist carries from its workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dpaudit import testing

if TYPE_CHECKING:
    import numpy as np

SUMMARY = "dpaudit"
MARKER = (
    "dpaudit(algorithm, epsilon=None, **options): the test fails unless `assert_global_dp` of these"
    " arguments passes; without arguments a label for `-m dpaudit`"
)
COLLECTOR = pytest.StashKey["Collector"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the seed and the folder for counterexamples."""
    group = parser.getgroup("dpaudit", "privacy audits")
    group.addoption(
        "--dpaudit-seed",
        type=int,
        default=0,
        metavar="SEED",
        help="seed of sampled audits that name none (default 0: the same answer every time)",
    )
    group.addoption(
        "--dpaudit-folder",
        default=".dpaudit",
        metavar="DIR",
        help="where counterexamples are saved (default .dpaudit)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker and gather audited claims."""
    config.addinivalue_line("markers", MARKER)
    config.stash[COLLECTOR] = Collector()
    config.pluginmanager.register(config.stash[COLLECTOR])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Record what the test and its fixtures audit."""

    def hear(audited: testing.Audited) -> None:
        made = [(SUMMARY, audited.line), *audited.properties.items()]
        if made[0] not in item.user_properties:
            item.user_properties.extend(made)

    folder = Path(item.config.getoption("--dpaudit-folder"))
    seed = item.config.getoption("--dpaudit-seed")
    token = testing.session.set(testing.Session(hear, folder, seed))
    try:
        return (yield)
    finally:
        testing.session.reset(token)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Judge the claims of a test's markers before its body."""
    for mark in item.iter_markers("dpaudit"):
        if mark.args or mark.kwargs:
            testing.assert_global_dp(*mark.args, **mark.kwargs)


class Collector:
    """Gathers the claims that tests audited, also those of xdist workers."""

    def __init__(self) -> None:
        self.lines: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the lines of a test."""
        self.lines |= {
            str(value): None for name, value in report.user_properties if name == SUMMARY
        }


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print one line per audited claim, the refuted ones first."""
    lines = config.stash[COLLECTOR].lines
    if not lines:
        return
    terminalreporter.section("privacy claims")
    order = ("REFUTED", "SILENT", "HOLDS", "PROVED")
    for line in sorted(lines, key=lambda text: (order.index(text.split()[0]), text)):
        colour = {"REFUTED": "red", "SILENT": "yellow"}.get(line.split()[0], "green")
        terminalreporter.write_line(line, **{colour: True})


@pytest.fixture
def assert_global_dp() -> Any:
    """Return `dpaudit.assert_global_dp`: judge a claim and fail unless it is what is required."""
    return testing.assert_global_dp


@pytest.fixture
def audit_global_dp() -> Any:
    """Return `dpaudit.testing.audit_global_dp`: judge a claim and return the report."""
    return testing.audit_global_dp


@pytest.fixture
def dpaudit_seed(pytestconfig: pytest.Config) -> int:
    """Return the seed of this run (`--dpaudit-seed`)."""
    seed: int = pytestconfig.getoption("--dpaudit-seed")
    return seed


@pytest.fixture
def dpaudit_rng(request: pytest.FixtureRequest, dpaudit_seed: int) -> np.random.Generator:
    """Return a generator of this test alone: the same for the same seed and test, in any order."""
    import hashlib

    import numpy as np

    name = hashlib.sha256(request.node.nodeid.encode()).digest()
    return np.random.default_rng([dpaudit_seed, int.from_bytes(name[:8], "big")])
