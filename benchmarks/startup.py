"""Cold starts of the command line: seconds of a fresh process, median of several.

python benchmarks/startup.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

COMMANDS = {
    "--help": (["--help"], 0.5),
    "list": (["list"], None),
    "simulate adap_klucb, T = 1e7, 20 runs": (
        ["simulate", "adap_klucb", "--env", "C2", "--horizon", "1e7", "--runs", "20"],
        3.0,
    ),
    "simulate ucb, T = 1e5, 1 run": (
        ["simulate", "ucb", "--horizon", "1e5", "--runs", "1"],
        None,
    ),
}
REPEATS = 5


def seconds(words: list[str]) -> float:
    """Return the wall-clock time of one process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "dpaudit", *words], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    """Run each command once to fill caches, then measure."""
    print("| command | seconds | wanted |\n|---|---|---|")
    for name, (words, wanted) in COMMANDS.items():
        seconds(words)
        median = statistics.median(seconds(words) for _ in range(REPEATS))
        print(f"| {name} | {median:.2f} | {'' if wanted is None else f'< {wanted:g}'} |")


if __name__ == "__main__":
    main()
