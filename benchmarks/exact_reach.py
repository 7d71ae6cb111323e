"""How far the exact engine reaches, beside an older one: CPU seconds, widths, and their ratios.

    python benchmarks/exact_reach.py --other OLD/bin/python        # all lines, in turn
    python benchmarks/exact_reach.py worst-32 likelihoods          # some of them, this engine alone

Every line is a process of its own in either environment, so imports count, and so does memory.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any


def built(name: str, horizon: int, arms: int) -> Any:
    """Build an algorithm, for its horizon where it is told one."""
    from dpaudit.core.algorithms import load

    told = {"horizon": horizon} if name in ("dp_se", "dp_ucb") else {}
    return load(name, arms=arms, **told)


def worst(name: str, horizon: int, arms: int = 2, streams: str = "real") -> dict[str, Any]:
    """Enclose the largest loss on all streams, or on binary ones, without the charges."""
    from dpaudit.exact import worst_loss

    # an older engine knows no epsilon to stop at; this one is to find none
    told = {"epsilon": 100.0} if "epsilon" in signature(worst_loss).parameters else {}
    found = worst_loss(built(name, horizon, arms), horizon, streams=streams, **told)
    width = found.loss.upper - found.loss.lower
    return {"certified": found.loss.certified, "width": width, "paths": found.paths}


def likelihoods(name: str, horizon: int) -> dict[str, Any]:
    """Enclose the likelihood of every action sequence on one stream."""
    from dpaudit.exact import likelihood
    from dpaudit.exact.paths import all_paths

    algorithm = built(name, horizon, 2)
    stream = [float(t % 3 == 0) for t in range(horizon)]
    every = {tuple(int(a) for a in path.actions) for path in all_paths(algorithm, horizon)}
    found = [likelihood(algorithm, actions, stream) for actions in sorted(every)]
    possible = [p for p in found if p.certified and p.log_upper > -math.inf]
    wide = [p.log_upper - p.log_lower for p in possible]
    certified = all(p.certified for p in found)
    return {"certified": certified, "width": max(wide, default=None), "paths": len(found)}


def check() -> dict[str, Any]:
    """Run the whole command with its default budget."""
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "report.json"
        words = [sys.executable, "-m", "dpaudit", "check", "adap_klucb", "--json", str(saved)]
        subprocess.run(words, capture_output=True, check=False)
        data = json.loads(saved.read_text())
    exact = next(f for f in data["findings"] if f["check"] == "exact")
    return {"certified": exact["certified"], "width": None, "horizon": exact["horizon"]}


LINES: dict[str, Callable[[], dict[str, Any]]] = {
    "worst-16": lambda: worst("adap_klucb", 16),
    "worst-32": lambda: worst("adap_klucb", 32),
    "worst-imed-16": lambda: worst("adap_imed", 16),
    "worst-ucb-32": lambda: worst("adap_ucb", 32),
    "worst-three-arms-5": lambda: worst("adap_klucb", 5, arms=3),
    "worst-three-arms-8": lambda: worst("adap_klucb", 8, arms=3),
    "worst-binary-dp_klucb-6": lambda: worst("dp_klucb", 6, streams="binary"),
    "worst-binary-dp_imed-6": lambda: worst("dp_imed", 6, streams="binary"),
    "worst-binary-dp_ucb-6": lambda: worst("dp_ucb", 6, streams="binary"),
    "worst-se-3500": lambda: worst("dp_se", 3500),
    "likelihoods-dp_klucb-8": lambda: likelihoods("dp_klucb", 8),
    "likelihoods-dp_imed-8": lambda: likelihoods("dp_imed", 8),
    "likelihoods-dp_ucb-6": lambda: likelihoods("dp_ucb", 6),
    "check": check,
}

CHILD = """
import json, resource, runpy, sys
found = runpy.run_path({path!r})["LINES"][{line!r}]()
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
found["seconds"] = sum(u.ru_utime + u.ru_stime for u in used)
found["megabytes"] = max(u.ru_maxrss for u in used) / 1024
print("\\n" + json.dumps(found))
"""


def measured(python: str, line: str) -> dict[str, Any]:
    """Run one line in an environment."""
    code = CHILD.format(path=str(Path(__file__).resolve()), line=line)
    given: dict[str, Any] = {"capture_output": True, "text": True, "check": False}
    ran = subprocess.run([python, "-c", code], cwd=tempfile.gettempdir(), **given)
    if ran.returncode:
        return {"failed": ran.stderr.strip().splitlines()[-1:]}
    found: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    """Print a table, one line after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lines", nargs="*", default=[], metavar="LINE", help=", ".join(LINES))
    parser.add_argument("--other", help="the interpreter of an environment with an older engine")
    asked = parser.parse_args()
    for line in asked.lines or LINES:
        new = measured(sys.executable, line)
        print(f"{line:<24} new {new}", flush=True)
        if asked.other:
            old = measured(asked.other, line)
            print(f"{'':<24} old {old}")
            if "seconds" in old and "seconds" in new:
                print(f"{'':<24} new / old {new['seconds'] / old['seconds']:.2f}", flush=True)


if __name__ == "__main__":
    main()
