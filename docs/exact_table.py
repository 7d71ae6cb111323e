"""Print which shipped declaration the exact engine answers, and how: the table of its README.

python docs/exact_table.py            # print it
python docs/exact_table.py --write    # put it into dpaudit/exact/README.md
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Algorithm
from dpaudit.core.algorithms import load, names
from dpaudit.errors import DpauditError
from dpaudit.exact import likelihood, worst_loss
from dpaudit.exact.likelihood import Engine
from dpaudit.exact.paths import all_paths

README = Path(__file__).resolve().parent.parent / "dpaudit" / "exact" / "README.md"

BEGIN, END = "<!-- table -->", "<!-- end of table -->"
HEAD = """| declaration | arms | likelihood, certified | quick look | largest loss, binary streams |
|---|---|---|---|---|"""


def built(name: str, arms: int, horizon: int) -> Algorithm:
    """Return a shipped algorithm, told the horizon where it wants one."""
    options: dict[str, Any] = {"arms": arms}
    if "horizon" in inspect.signature(type(load(name, arms=2, **_told(name)))).parameters:
        options["horizon"] = horizon
    return load(name, **options)


def _told(name: str) -> dict[str, int]:
    try:
        load(name, arms=2)
    except (TypeError, DpauditError):
        return {"horizon": 8}
    return {}


def one(algorithm: Algorithm, horizon: int, engine: Engine) -> str:
    """Say how narrow the likelihood of the last path is, or that there is none."""
    *_, path = all_paths(algorithm, horizon)
    try:
        found = likelihood(algorithm, path.actions, np.linspace(0, 1, horizon).round(2), engine)
    except DpauditError:
        return "no"
    if engine == "ball" and not found.certified:
        return "no"
    width = found.log_upper - found.log_lower if found.log_upper > -np.inf else 0.0
    return f"to 1e{int(np.ceil(np.log10(width)))}" if width > 0 else "exactly"


def largest(algorithm: Algorithm, horizon: int) -> str:
    """Say how the largest loss is found."""
    try:
        found = worst_loss(algorithm, horizon, streams="binary")
    except DpauditError:
        return "no"
    kind = "certified" if found.loss.certified else "in doubles"
    return f"{kind}, {found.method}"


def table() -> str:
    """Return the table."""
    rows = [HEAD]
    for name in sorted(names()):
        for arms in (2, 3):
            horizon = arms + (2 if arms == 2 else 1)
            algorithm = built(name, arms, horizon)
            cells = [one(algorithm, horizon, "ball"), one(algorithm, horizon, "float")]
            cells.append(largest(algorithm, horizon))
            rows.append(f"| {name} | {arms} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    """Print the table, or write it."""
    if "--write" not in sys.argv[1:]:
        print(table())
        return
    before, _, rest = README.read_text().partition(BEGIN)
    after = rest.partition(END)[2]
    README.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")


if __name__ == "__main__":
    main()
