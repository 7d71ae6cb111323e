"""Hand-written changes that would let a check conclude more than it may: `optimistic.txt`.

Each says `@ module: what it would do`, then the text that it takes out (`-`) and what takes its
place (`+`, nothing if there is none); the text has to occur once, and may be part of a line.
"""

from __future__ import annotations

from pathlib import Path

from choice import functions_of
from operators import Mutant, mutant

STALE: list[str] = []


def written() -> list[tuple[str, str, str, str]]:
    """Return module, text before, text after and words of every change."""
    found = []
    for block in Path(__file__).with_suffix(".txt").read_text().split("\n@ "):
        title, *lines = block.removeprefix("@ ").splitlines()
        module, _, why = title.partition(": ")
        old, new = ("\n".join(it[2:] for it in lines if it[:1] == sign) for sign in "-+")
        found.append((module, old, new, why))
    return found


def optimistic(module: str, source: str) -> list[Mutant]:
    """Return the hand-written mutants of a module; those whose text is gone are kept in `STALE`."""
    found = []
    for name, old, new, why in written():
        if name != module:
            continue
        if source.count(old) != 1:
            STALE.append(f"{module}: {why}: {source.count(old)} times in the source: {old!r}")
            continue
        start = source.index(old)
        line = source.count("\n", 0, start) + 1
        around = [function for function, span in functions_of(source) if line in span]
        function = around[-1] if around else ""
        made = mutant(module, source, start, start + len(old), new, function, f"optimistic: {why}")
        found.append(made)
    return found
