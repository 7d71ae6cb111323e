"""The package's README says what the engine answers."""

from __future__ import annotations

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "exact_table.py"


def test_the_table_of_what_is_answered_is_up_to_date() -> None:
    found = importlib.util.spec_from_file_location("exact_table", SCRIPT)
    assert found is not None and found.loader is not None
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    assert f"{script.BEGIN}\n{script.table()}\n{script.END}" in script.README.read_text()
