"""Random declarations through two revisions of the exact engine: same answers where both answer.

    python benchmarks/exact_revisions.py --other OLD/bin/python --declarations 1000 --seed 0

Declarations are those of `tests/fuzz`, in chunks that both environments get from one file. Every
likelihood and every largest loss that both state must overlap (certified ones as they are, others
within the error that doubles may have); what only one of them answers, or certifies, is counted,
and shown where it is the older one. Budgets are seconds: on a busy machine some refusals are the
clock's.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fuzz"))

CHUNK = 20
SEQUENCES = 4  # of each declaration, certified; all of them by the quick look
SECONDS = 1.0  # of one search
DOUBLES = 1e-6  # by which answers in doubles may differ, relatively
Answer = tuple[float, float, bool] | str  # an enclosure and whether it is certified, or a refusal


def drawn(seed: int, number: int) -> list[Any]:
    """Return the declarations of one chunk."""
    from cases import cases
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    found: dict[str, Any] = {}

    @seeded(seed * 1_000_003 + number)
    @settings(
        max_examples=CHUNK,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases())
    def each(case: Any) -> None:
        found[repr(case)] = case

    each()
    return list(found.values())


def answers(case: Any) -> dict[str, Answer]:
    """Return what this environment says of a declaration."""
    import oracle

    from dpaudit.core.canonical import Distrust
    from dpaudit.errors import DpauditError
    from dpaudit.exact import likelihood, worst_loss

    def ask(question: Callable[[], Answer]) -> Answer:
        try:
            return question()
        except (DpauditError, Distrust) as refusal:
            return str(refusal)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def probability(actions: tuple[int, ...], engine: Any) -> Answer:
        found = likelihood(case.algorithm, actions, case.stream, engine)
        return found.log_lower, found.log_upper, found.certified

    def loss(streams: Any) -> Answer:
        found = worst_loss(case.algorithm, case.horizon, streams=streams, budget=SECONDS).loss
        return found.lower, found.upper, found.certified

    try:
        paths = oracle.all_paths(case.algorithm, case.horizon)
    except Exception:
        return {}
    said: dict[str, Answer] = {}
    for number, actions in enumerate(dict.fromkeys(path.actions for path in paths)):
        for engine in ("ball", "float") if number < SEQUENCES else ("float",):
            said[f"likelihood {engine} {actions}"] = ask(
                lambda a=actions, e=engine: probability(a, e)
            )
    for streams in ("real", "binary"):
        said[f"loss {streams}"] = ask(lambda s=streams: loss(s))
    return said


def answer_file(given: str, written: str) -> None:
    """Answer the declarations of a file; both environments run this."""
    import numpy as np

    warnings.simplefilter("ignore")
    cases = pickle.loads(Path(given).read_bytes())
    with np.errstate(all="ignore"):
        found = [answers(case) for case in cases]
    Path(written).write_bytes(pickle.dumps(found))


def compare(case: Any, new: dict[str, Answer], old: dict[str, Answer], tally: Counter[str]) -> None:
    """Count how two environments agree on one declaration, and print where they do not."""
    for question in new.keys() | old.keys():
        one, two = new.get(question, "not asked"), old.get(question, "not asked")
        kind = " ".join(question.split()[:2])
        if isinstance(one, str) or isinstance(two, str):
            if isinstance(one, str) and isinstance(two, str):
                tally[f"{kind}: refused by both"] += 1
                continue
            who, why = ("new", one) if isinstance(one, str) else ("old", two)
            tally[f"{kind}: refused by {who} alone"] += 1
            if who == "new":
                print(f"refused by new alone: {question}: {why}\n    {case!r}")
            continue
        tally[f"{kind}: answered by both"] += 1
        if one[2] != two[2]:
            tally[f"{kind}: certified by {'new' if one[2] else 'old'} alone"] += 1
        finite = [abs(end) for end in (*one[:2], *two[:2]) if abs(end) < float("inf")]
        slack = 0.0 if one[2] and two[2] else DOUBLES * max([1.0, *finite])
        if max(one[0], two[0]) > min(one[1], two[1]) + slack:
            tally[f"{kind}: APART"] += 1
            print(f"APART: {question}: new {one}, old {two}\n    {case!r}")


def main() -> int:
    """Run the campaign; the exit code tells whether any two answers were apart."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--other", required=True, help="the older environment's interpreter")
    parser.add_argument("--declarations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    tally: Counter[str] = Counter()
    number = 0
    with tempfile.TemporaryDirectory() as folder:
        while tally["declarations"] < asked.declarations:
            given = Path(folder, "given")
            given.write_bytes(pickle.dumps(cases := drawn(asked.seed, number)))
            results = []
            running = []
            for name, python in (("new", sys.executable), ("old", asked.other)):
                words = [python, __file__, "--answer", str(given), str(Path(folder, name))]
                running.append(subprocess.Popen(words, cwd=folder))
            for name, process in zip(("new", "old"), running, strict=True):
                if process.wait():
                    print(f"the {name} environment ended with {process.returncode}")
                    return 2
                results.append(pickle.loads(Path(folder, name).read_bytes()))
            for case, new, old in zip(cases, *results, strict=True):
                tally["declarations"] += 1
                compare(case, new, old, tally)
            number += 1
            print(f"-- {tally['declarations']} declarations", flush=True)
    for line, count in sorted(tally.items()):
        print(f"{count:>9,}  {line}")
    return int(any("APART" in line for line in tally))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answer"]:
        answer_file(*sys.argv[2:])
    else:
        sys.exit(main())
