"""Reach of the certified engine: paths, width of the enclosure of epsilon*, time, memory against T.

    python benchmarks/certified.py                       # the table up to the targets
    python benchmarks/certified.py adap_klucb 32 real    # one line

Wall time depends on what else the machine does, so processor time stands beside it.
"""

from __future__ import annotations

import resource
import sys
import time

from dpaudit.core.algorithms import load
from dpaudit.exact.ball import worst_loss

TABLE = [
    *(("adap_ucb", horizon, "real") for horizon in (8, 16, 32, 64)),
    *(("adap_klucb", horizon, "binary") for horizon in (8, 16, 32)),
    *(("adap_klucb", horizon, "real") for horizon in (8, 16, 32)),
]


def line(name: str, horizon: int, streams: str) -> str:
    """Measure one enclosure."""
    began = time.process_time()
    found = worst_loss(load(name, arms=2, epsilon=1.0), horizon, streams)  # type: ignore[arg-type]
    used = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"{name:<11}{streams:<7}{horizon:>4}{found.paths:>7}  "
        f"[{found.loss.lower:.12f}, {found.loss.upper:.12f}]{found.loss.width:>10.1e}"
        f"{used:>9.1f}{found.seconds:>9.1f}{peak:>9.0f}"
    )


def main() -> None:
    """Print the table."""
    print(
        "algorithm  streams   T  paths  epsilon* (epsilon = 1)"
        "                   width    cpu s   wall s  peak MB"
    )
    given = sys.argv[1:]
    rows = [(given[0], int(given[1]), given[2])] if given else TABLE
    for row in rows:
        print(line(*row), flush=True)


if __name__ == "__main__":
    main()
