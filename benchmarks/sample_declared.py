"""Audit every declared algorithm at full size, or every mutant, with nothing named but the target.

T = 10^7 for the adap algorithms and 10^5 for the rest, five arms, epsilon 1, error 1e-3: what
claims epsilon must be silent, what claims nothing refuted; what claims rho is left out. Mutants
have the command's own horizon and error, and no pair of theirs is named. Prints each verdict and
lower bound on epsilon; exit 1 if one is not as it should be (a mutant may be either).

    python benchmarks/sample_declared.py [--old FOLDER] [--mutants] [name ...]

With --old, a folder that holds an older revision of the package, its bounds stand beside.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from typing import Any

from dpaudit.core import algorithms, mutants
from dpaudit.core.notions import Kind


def full_size(name: str) -> list[str]:
    """Return the options of an algorithm's audit."""
    horizon = 10**7 if name.startswith("adap_") else 10**5
    return ["--epsilon", "1", "--arms", "5", "--horizon", str(horizon), "--error", "1e-3"]


def judged() -> dict[str, list[str]]:
    """Return the algorithms to judge, and their options."""
    found = {name: algorithms.find(name) for name in sorted(algorithms.names())}
    claimed = {name for name, it in found.items() if it.private and it.notion is Kind.ZCDP}
    return {name: full_size(name) for name in found if name not in claimed}


def known_wrong() -> dict[str, list[str]]:
    """Return the mutants, and their options."""
    found = [mutants.find(name) for name in mutants.names()]
    return {it.target: ["--epsilon", f"{it.epsilon:g}", "--arms", str(it.arms)] for it in found}


def audited(target: str, options: list[str], folder: str | None) -> dict[str, Any]:
    """Return the report of an audit by the package of a folder, or by this one."""
    # -P: the package of the folder, not the one that lies here
    command = [sys.executable, "-P", "-m", "dpaudit", "audit", target, *options, "--json", "-"]
    path = {} if folder is None else {"PYTHONPATH": folder}
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=False, text=True, env={**os.environ, **path}
    )
    found: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    return found


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(targets: dict[str, list[str]], old: str | None) -> int:
    """Print the table and return the exit code."""
    wrong = refuted = 0
    print(f"{'target':28}{'runs':>8}{'before':>10}{'epsilon >=':>12}  {'verdict':10}{'CPU s':>6}")
    for target, options in targets.items():
        before = audited(target, options, old).get("lower", "-") if old else "-"
        start = _cpu()
        report = audited(target, options, None)
        seconds = _cpu() - start
        verdict = report.get("status", "failed")
        refuted += verdict == "REFUTED"
        if target in algorithms.names():
            expected = "SILENT" if algorithms.find(target).private else "REFUTED"
            wrong += verdict != expected
        shown = before if before == "-" else f"{before:.4f}"
        print(
            f"{target:28}{report.get('runs', 0):8}{shown:>10}{report.get('lower', 0.0):12.4f}  "
            f"{verdict:10}{seconds:6.0f}",
            flush=True,
        )
    print(f"{refuted} of {len(targets)} refuted; {wrong} wrong verdicts")
    return int(wrong > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--mutants", action="store_true")
    parser.add_argument("--old", metavar="FOLDER")
    given = parser.parse_args()
    tried = known_wrong() if given.mutants else judged()
    sys.exit(main({name: tried[name] for name in given.names or tried}, given.old))
