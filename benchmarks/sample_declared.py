"""Audit every declared algorithm at full size: the private ones silent, the others refuted.

T = 10^7 for the adap algorithms and 10^5 for the rest, five arms, epsilon 1, error 1e-3; prints
each audit's verdict and its lower bound on epsilon. Exit 1 if a verdict is not as it should be.

    python benchmarks/sample_declared.py [algorithm ...]
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from dpaudit.core.algorithms import find, names


def main(chosen: list[str]) -> int:
    """Print the table and return the exit code."""
    wrong = 0
    print(f"{'algorithm':14}{'horizon':>10}{'runs':>8}{'epsilon >=':>12}  {'verdict':10}{'s':>6}")
    for name in chosen or sorted(names()):
        horizon = 10**7 if name.startswith("adap_") else 10**5
        command = [sys.executable, "-m", "dpaudit", "audit", name, "--epsilon", "1", "--arms", "5"]
        command += ["--horizon", str(horizon), "--error", "1e-3", "--json", "-"]
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
        seconds = time.perf_counter() - start
        report = json.loads(done.stdout)
        private = find(name).private
        wrong += done.returncode != (0 if private else 1)
        print(
            f"{name:14}{horizon:10}{report['runs']:8}{report['lower']:12.4f}  "
            f"{report['status']:10}{seconds:6.0f}",
            flush=True,
        )
    print("all as they should be" if not wrong else f"{wrong} wrong verdicts")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
