"""Mutation testing of the trusted base: does some test notice when a proof is made easier?

    python benchmarks/mutation                      # every hand-written mutant and 200 by syntax
    python benchmarks/mutation --module structure --sample 0        # 0: all of them
    python benchmarks/mutation --again                              # survivors only, after mending
    python benchmarks/mutation --afresh                             # all of them, on changed code

The modules come from docs/trusted-base.md. Mutants are changes by syntax (`operators`) and a
hand-written list of optimistic ones (`optimistic`): each would let a check conclude more. A mutant
is killed by a test that fails or hangs; the tests are those that are there to guard the changed
module (`choice`), those that name the function first, up to a cap of seconds. Results are appended
to a file and not computed again. Tests that compare the text of the source do not count.

Why no tool from the package index: mutmut rewrites every function into a switch between variants,
and the structure check recognises functions by identity; cosmic-ray changes the package in place
and runs one command for all mutants, minutes each here; mutatest is no longer maintained.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

from equivalent import equivalent
from operators import Mutant, mutants
from optimistic import STALE, optimistic
from trial import Bench

ROOT = Path(__file__).resolve().parents[2]


def trusted() -> list[str]:
    """Return the modules that docs/trusted-base.md lists."""
    page, _, _ = (ROOT / "docs" / "trusted-base.md").read_text().partition("\nWhat these modules")
    return re.findall(r"^\| `(dpaudit/[\w/]+\.py)` \|", page, re.MULTILINE)


def all_mutants(module: str) -> list[Mutant]:
    """Return every mutant of a module, hand-written ones first."""
    source = (ROOT / module).read_text()
    return [*optimistic(module, source), *mutants(module, source)]


def chosen(modules: list[str], sample: int, seed: int) -> list[Mutant]:
    """Return all hand-written mutants and a sample by syntax: of every module one, then another."""

    def lot(it: Mutant) -> bytes:
        return sha256(f"{seed} {it.key}".encode()).digest()

    found = [it for module in modules for it in all_mutants(module)]
    written = [it for it in found if it.why.startswith("optimistic")]
    drawn: dict[str, list[Mutant]] = defaultdict(list)
    for it in sorted(found, key=lot):
        if not it.why.startswith("optimistic"):
            drawn[it.module].append(it)
    turns = [it for turn in zip_longest(*drawn.values()) for it in turn if it is not None]
    return written + (turns[:sample] if sample else turns)


def report(mutants: list[Mutant], results: dict[str, dict[str, Any]]) -> None:
    """Print a table by module, then every survivor, equivalent and time-out."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for it in mutants:
        if (found := results.get(it.key)) and found["status"] != "invalid":
            excused = found["status"] == "survived" and equivalent(it)
            rows[it.module]["equivalent" if excused else found["status"]] += 1
    print("\n| module | mutants | killed | of these timed out | equivalent | survived |")
    print("|---|---|---|---|---|---|")
    whole = sum(rows.values(), Counter())
    for name, row in [*sorted(rows.items()), ("together", whole)]:
        killed = row["killed"] + row["timeout"]
        cells = [row.total(), killed, row["timeout"], row["equivalent"], row["survived"]]
        print(f"| {name} | {' | '.join(map(str, cells))} |")
    if whole.total():
        killed = whole["killed"] + whole["timeout"]
        print(f"\n{killed / (whole.total() - whole['equivalent']):.1%} of what is not equivalent.")
        seconds = sorted(results[it.key]["seconds"] for it in mutants if it.key in results)
        print(f"Median {seconds[len(seconds) // 2]:.1f} s per mutant, {sum(seconds):.0f} s in all.")
    if STALE:
        print("\n## Hand-written mutants whose text is gone\n")
        print("\n".join(STALE))
    for status, title in (("survived", "Survivors"), ("timeout", "Timed out")):
        named = [it for it in mutants if results.get(it.key, {}).get("status") == status]
        print(f"\n## {title}\n" * bool(named))
        for it in named:
            note = f"  equivalent: {reason}" if (reason := equivalent(it)) else ""
            print(f"{it.module}:{it.lines.start} {it.function} ({it.why})")
            print(f"- {it.before}\n+ {it.after}\n{note}".rstrip())


def main() -> None:
    """Measure if asked to; otherwise try what has no result yet and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sample", type=int, default=200, help="mutants by syntax; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", action="append", help="part of a module's path")
    parser.add_argument("--match", default="", help="part of a mutant's key")
    parser.add_argument("--cap", type=float, default=60.0, help="seconds of tests per mutant")
    parser.add_argument("--again", action="store_true", help="try survivors again")
    parser.add_argument("--afresh", action="store_true", help="try all again, what killed first")
    parser.add_argument("--report", action="store_true", help="only print what is known")
    work = Path(tempfile.gettempdir()) / "dpaudit-mutation"
    parser.add_argument("--work", type=Path, default=work, help="copy and results")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    modules = [it for it in trusted() if not given.module or any(m in it for m in given.module)]
    wanted = [it for it in chosen(modules, given.sample, given.seed) if given.match in it.key]
    path = given.work / "results.jsonl"
    known = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    results = {it["key"]: it for it in known}
    if not given.report:
        bench = Bench(ROOT, given.work, given.cap)
        for it in known:
            bench.remember(it["key"].partition(" ")[0], it["by"])
        for number, it in enumerate(wanted):
            before = results.get(it.key, {}).get("status")
            argued = before == "survived" and equivalent(it)
            if before and (argued or not (given.afresh or given.again and before == "survived")):
                continue
            found = {"key": it.key, "why": it.why, **vars(bench.run(it))}
            results[it.key] = found
            with path.open("a") as file:
                file.write(json.dumps(found) + "\n")
            told = f"{number + 1}/{len(wanted)} {found['status']} {found['seconds']} s {it.key}"
            print(told, file=sys.stderr, flush=True)
        killers = {results[it.key]["by"] for it in wanted if "::" in results[it.key]["by"]}
        failing = set(bench.unreliable(sorted(killers)))
        doubtful = [it.key for it in wanted if results[it.key]["by"] in failing]
        print("\n".join(f"fails without a mutant, tried again next time: {it}" for it in doubtful))
        kept = (it for it in results.values() if it["key"] not in doubtful)
        path.write_text("".join(json.dumps(it) + "\n" for it in kept))
    report(wanted, results)


if __name__ == "__main__":
    main()
