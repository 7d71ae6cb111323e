"""A locked claim judged again: what either the new or the old options refute is refuted."""

from types import SimpleNamespace

import pytest

from dpaudit.gate import update
from dpaudit.options import Options
from dpaudit.verdict import Status

STATUSES = [(Status.REFUTED, Status.PROVED), (Status.PROVED, Status.REFUTED)]


@pytest.mark.parametrize("found", STATUSES)
def test_other_options_do_not_hide_a_refutation(monkeypatch, found):
    answers = iter(found)

    def apart(asked):
        report = SimpleNamespace(verdict=next(answers))
        return SimpleNamespace(report=report, options=asked.options)

    monkeypatch.setattr(update, "apart", apart)
    monkeypatch.setattr(update, "options_of", lambda entry: Options(runs=20))
    monkeypatch.setattr(update, "sizes_of", lambda options: options)
    entry = SimpleNamespace(target="mine.py:Mine", options=SimpleNamespace(runs=None), claim="mine")
    writer = SimpleNamespace(root=None, path=None)
    judged, refuted = update.Writer._again(writer, entry, {"runs": 10})
    assert refuted and judged.report.verdict is found[0]
