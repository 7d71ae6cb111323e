"""Which check catches which mutant, with the runs or states that it took.

Run `python benchmarks/mutants.py > docs/mutants.md`; it takes about two minutes. Every check judges
every mutant that it can: structure at ten million rounds, exact and the sampler at the size that
the mutant's file names, otherwise the sampler in 2,000 runs on its usual pairs.
"""

from __future__ import annotations

import sys
from itertools import islice

from dpaudit.core.mutant import Mutant
from dpaudit.core.mutants import find, names
from dpaudit.exact.paths import all_paths
from dpaudit.structure import bound
from dpaudit.target import resolve
from dpaudit.trial import examined, sampled
from dpaudit.verdict import Status

HORIZON = 10_000_000
SECONDS = 10.0
MOST_PATHS = 10_000
HEAD = """# Mutants: which check catches which

Each mutant is an algorithm with one thing wrong: a file in `dpaudit/core/mutants` with its flaw and
with the checks that refute it. `python -m dpaudit list --mutants` lists them;
`python -m dpaudit check mutants/NAME` judges one that is declared, `python -m dpaudit audit
mutants/NAME` one that is handwritten code, for which there is no declaration to check. `pytest
audits/` holds every file to its word: no mutant is ever proved, and each is refuted where its file
says so, by a counterexample that recomputes from scratch or by runs at error 1e-6.

- structure: the largest charge on one reward within 10,000,000 rounds, to be compared with the
  claimed epsilon, and the public states walked. A charge above epsilon is no violation by itself:
  structure then proves nothing, and it never refutes.
- exact: rounds and loss of the shrunk counterexample, and the decision paths of the horizon that
  was searched.
- sample: runs until the claim was refuted at error 1e-6, or after which it was silent; "own pair"
  where the file names the streams on which the flaw shows, otherwise eight usual pairs.

A dash stands for a check that does not apply: handwritten code has no declaration.

This page is written by `python benchmarks/mutants.py`.
"""


def main() -> None:
    """Print the page."""
    print(HEAD)
    mutants = [find(name) for name in names()]
    counts = {"exact": 0, "sample": 0, "none": 0}
    rows = []
    for mutant in mutants:
        exact, by_exact = exact_cell(mutant)
        sample, by_sample = sample_cell(mutant)
        counts["exact"] += by_exact
        counts["sample"] += by_sample
        counts["none"] += not (by_exact or by_sample)
        cells = [f"`{mutant.name}`", f"{mutant.epsilon:g}", structure_cell(mutant), exact, sample]
        rows.append(f"| {' | '.join(cells)} |")
        print(f"{mutant.name}: {exact} / {sample}", file=sys.stderr, flush=True)
    print(
        f"{len(mutants)} mutants; none is proved. {counts['exact']} are refuted by exact, "
        f"{counts['sample']} by runs, {counts['none']} by neither.\n"
    )
    print("| mutant | claimed epsilon | structure | exact | sample |")
    print("|---|---|---|---|---|")
    print("\n".join(rows))
    print("\n## The flaws\n")
    for mutant in mutants:
        kind = "declared" if mutant.declared else "handwritten"
        why = f" Not refuted: {mutant.why_not}" if mutant.why_not else ""
        print(f"- `{mutant.name}` ({kind}): {mutant.flaw}{why}")


def structure_cell(mutant: Mutant) -> str:
    """Return the largest charge, and whether the walk covers every transcript."""
    if not mutant.declared:
        return "-"
    given = {"arms": mutant.arms, "epsilon": mutant.epsilon}
    algorithm = resolve(mutant.target).build(HORIZON, given)
    found = bound(algorithm, HORIZON, SECONDS, HORIZON)
    if found.charge <= mutant.epsilon:
        raise AssertionError(f"{mutant.name} is charged no more than it claims")
    if found.charge == float("inf"):
        return "infinite charge"
    how = found.how.removeprefix("all ").removesuffix(" reachable public states walked")
    covered = f"{int(how):,} states" if how.isdigit() else "cut off" if not found.complete else how
    return f"charge {float(found.charge):.6g} ({covered})"


def exact_cell(mutant: Mutant) -> tuple[str, bool]:
    """Return the counterexample of the exact check, or that there is none."""
    if not mutant.declared:
        return "-", False
    report = examined(mutant)
    if report.verdict in (Status.PROVED, Status.HOLDS):
        raise AssertionError(f"{mutant.name} is {report.verdict}")
    witness = next((it.witness for it in report.findings if it.witness is not None), None)
    if witness is None or mutant.exact is None:
        return "silent", False
    horizon = mutant.exact.horizon
    given = {"arms": mutant.arms, "epsilon": mutant.epsilon}
    algorithm = resolve(mutant.target).build(horizon, given)
    paths = sum(1 for _ in islice(all_paths(algorithm, horizon), MOST_PATHS))
    of = f"{paths:,} paths" if paths < MOST_PATHS else f"over {MOST_PATHS:,} paths, directed search"
    lower = witness.loss.lower
    loss = "infinite loss" if lower == float("inf") else f"loss >= {lower:.6g}"
    return f"REFUTED: {len(witness.actions)} rounds, {loss} ({of} at T = {horizon:,})", True


def sample_cell(mutant: Mutant) -> tuple[str, bool]:
    """Return how many runs the sampler needed, or that it was silent."""
    report = sampled(mutant)
    refuted = report.status is Status.REFUTED
    word = "REFUTED after" if refuted else "silent after"
    own = ", own pair" if mutant.sample is not None and mutant.sample.pair is not None else ""
    return f"{word} {report.runs:,} runs of {report.horizon:,} rounds{own}", refuted


if __name__ == "__main__":
    main()
