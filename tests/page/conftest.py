"""Reports to make pages from: a proved algorithm, a refuted one, and one with hostile text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpaudit.details import losses, regret
from dpaudit.details.compute import details, ladder
from dpaudit.judging import PrivacyClaim, Report, check
from dpaudit.options import Options
from dpaudit.particulars import Details
from dpaudit.target import resolve
from dpaudit.verdict import Course, Enclosure, Finding, Status, Witness

WRONG = '''"""Too little noise."""
from dataclasses import dataclass, replace
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.noise import Laplace


@dataclass(frozen=True, kw_only=True)
class Halved(AdapUCB):
    """Half the noise."""

    def release(self, rows):
        right = super().release(rows)
        return replace(right, noise=Laplace(exact(right.noise.scale) / 2))
'''
HOSTILE = "<script>alert(1)</script>\"'&\u202e\x00<!-- ]]> </style>"


def judged(text: str) -> Report:
    """Judge at sizes that are fixed, with more time than they need: no result hangs on speed."""
    found = check(resolve(text), Options(horizon=100_000, exact_horizon=5, budget=300.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(losses, "LARGEST", 5)
        patch.setattr(regret, "HORIZONS", (1_000, 10_000))
        drawn = ladder(found.claim, 300.0, 0)
        parts = details(drawn, found.findings, 300.0, 0, "python -m dpaudit check ...")
    return replace(found, details=parts)


@pytest.fixture(scope="session")
def proved() -> Report:
    return judged("adap_ucb")


@pytest.fixture(scope="session")
def refuted(tmp_path_factory) -> Report:
    file = tmp_path_factory.mktemp("own") / "halved_noise.py"
    file.write_text(WRONG)
    return judged(f"{file}:Halved")


@pytest.fixture
def hostile() -> Report:
    """A report whose every text tries to break out of the page."""
    box = Enclosure(0.1, 0.2, False)
    witness = Witness(
        HOSTILE, {HOSTILE: HOSTILE}, (0, 1), (0.0, 1.0), (1.0, 1.0), 0, box, box, box, 1.0
    )
    claim = PrivacyClaim(HOSTILE, HOSTILE, {HOSTILE: HOSTILE}, 1.0, 2, 100, True, HOSTILE, True)
    course = Course(HOSTILE, 10.0, (0, 10), (0.0, 1.0), (0.0, 0.1))
    finding = Finding(
        "exact", Status.REFUTED, HOSTILE, 1.5, certified=True, horizon=2, streams=HOSTILE,
        witness=witness, error=0.1, courses=(course,),
    )  # fmt: skip
    missing = {HOSTILE: HOSTILE, "losses": HOSTILE}
    parts = Details(command=HOSTILE, flaw=HOSTILE, missing=missing)
    return Report(Status.REFUTED, claim, (finding,), details=parts)
