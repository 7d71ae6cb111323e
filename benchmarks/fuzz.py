"""A campaign of random declarations: who answers, who refuses and why, who disagrees.

Run `python benchmarks/fuzz.py --declarations 5000 --seed 0 --jobs 2`. The declarations are cut into
chunks, each with a seed of its own, so that a chunk is the same whoever examines it; finished
chunks are kept in `--state FILE`, with which an interrupted campaign goes on. Every eighth chunk is
also compared with seeded runs. A disagreement is printed with a line that builds its case again
where `tests/fuzz` is on the path: `from cases import *; from declarations import *; ...`.
"""

from __future__ import annotations

import argparse
import itertools
import os
import pickle
import sys
import time
import warnings
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fuzz"))

from cases import Case, cases
from checks import Tally, examine
from frequencies import check_frequencies
from hypothesis import HealthCheck, Phase, given, seed, settings

CHUNK = 10  # declarations that Hypothesis derives from one seed; it varies them among themselves
SAMPLED = 8  # one chunk of so many is compared with seeded runs


def chunk(campaign: int, number: int) -> Tally:
    """Examine the declarations of one chunk."""
    warnings.simplefilter("ignore")
    tally, seen = Tally(), set()

    @seed(campaign * 1_000_003 + number)
    @settings(
        max_examples=CHUNK,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def each(case: Case) -> None:
        if repr(case) not in seen:
            seen.add(repr(case))
            examine(case, tally)
            if number % SAMPLED == 0:
                check_frequencies(case, tally, seed=number)

    each()
    return tally


def report(tally: Tally, seconds: float) -> None:
    """Print counts, refusals by reason, and every disagreement."""
    print(f"\n{tally.counts['declarations']} declarations in {seconds:.0f} s")
    for name, count in sorted(tally.counts.items()):
        print(f"{count:>9,}  {name}")
    print("\nRefusals by reason")
    for reason, count in tally.refusals.most_common():
        print(f"{count:>9,}  {reason}")
    print(f"\n{len(tally.disagreements)} disagreements")
    kinds: dict[str, list[tuple[str, Case]]] = {}
    for kind, text, case in tally.disagreements:
        kinds.setdefault(kind, []).append((text, case))
    for kind, found in kinds.items():
        print(f"{len(found):>9,}  {kind}")
        for text, case in sorted(found, key=lambda pair: len(repr(pair[1])))[:3]:
            print(f"           {text}\n           {case!r}")


def main() -> int:
    """Run the campaign; the exit code tells whether anybody disagreed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--declarations", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--state", type=Path, help="where finished chunks are kept")
    options = parser.parse_args()
    key = (options.seed, CHUNK)
    done: dict[int, Tally] = {}
    if options.state and options.state.exists():
        kept, done = pickle.loads(options.state.read_bytes())
        if kept != key:
            parser.error(f"--state {options.state} belongs to another campaign {kept}")
    began, running, fresh = time.monotonic(), dict[Future[Tally], int](), itertools.count()
    pool = ProcessPoolExecutor(options.jobs)
    try:
        while sum(tally.counts["declarations"] for tally in done.values()) < options.declarations:
            while len(running) < 2 * options.jobs:
                if (number := next(fresh)) not in done:
                    running[pool.submit(chunk, options.seed, number)] = number
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done[running.pop(future)] = future.result()
            examined = sum(tally.counts["declarations"] for tally in done.values())
            wrong = sum(len(tally.disagreements) for tally in done.values())
            passed = time.monotonic() - began
            print(f"\r{examined} declarations, {wrong} disagreements, {passed:.0f} s", end="")
            sys.stdout.flush()
            if options.state:
                beside = options.state.with_suffix(".part")
                beside.write_bytes(pickle.dumps((key, done)))
                os.replace(beside, options.state)
    except KeyboardInterrupt:
        print("\ninterrupted")
    pool.shutdown(wait=False, cancel_futures=True)
    whole = Tally()
    for n in sorted(done):
        whole.add(done[n])
    report(whole, time.monotonic() - began)
    return int(bool(whole.disagreements))


if __name__ == "__main__":
    sys.exit(main())
