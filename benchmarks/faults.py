"""The page of fault families: what `check` says of wrong policies, their right twins, the mutants.

    python benchmarks/faults.py                  run everything, print the tables, write
    docs/faults.md
    python benchmarks/faults.py --only NAME,...  some policies, printed only

A wrong policy counts only once real runs have shown its violation at error 1e-6, by code that uses
nothing of dpaudit (`faults/violations.py`). Then `check` sees it, with its defaults.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "faults"))
PAGE = HERE.parent / "docs" / "faults.md"

import right  # noqa: E402
import wrong  # noqa: E402
from violations import binary, blocks, violated  # noqa: E402

STREAMS = {
    "Redrawn": [(0.0,) * 40, (1.0,) * 40],
    "OffByOneWindow": [(1.0,) * 4 + (0.0,) * 9, (0.0,) * 13],
    "WarmStart": blocks(4, 3, 1),
    "PrefixSums": binary(7),
    "RootOfTwo": binary(6),
    "SplitDoesNotSum": binary(6),
    "SharedAcrossTime": binary(6),
}
HEAD = """# Fault families

Private bandits go wrong in a few ways, again and again. Each row is one of them as a small policy
([benchmarks/faults](../benchmarks/faults)), with the loss that real runs show (a lower bound at
error 1e-6, found without dpaudit) and what `check` says of it, with its defaults. The right twins
come first, then the wrong ones, then the package's own handwritten mutants. Written by
`python benchmarks/faults.py`.

How to read it: Local and Response are asked for 60 rounds. How leads become pairs was improved on
these very policies, and so was what is read off as a declaration, so the share that is refuted says
little of others. Mutants are read only (`--method code`): what real runs say of them is in
[mutants.md](mutants.md).
"""


def policies(module: object) -> list[str]:
    """Return the names of the policies of a module."""
    name = module.__name__  # type: ignore[attr-defined]
    return [
        key
        for key, value in vars(module).items()
        if getattr(value, "__module__", "") == name and callable(value)
    ]


def checked(target: str, *words: str) -> tuple[str, str, float]:
    """Return verdict, what the code check says, and the seconds of one `check`."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "dpaudit", "check", target, *words, "--json", str(report)]
        done = subprocess.run(command, cwd=HERE / "faults", capture_output=True, text=True)
        seconds = time.perf_counter() - start
        if not report.is_file():
            return "ERROR", done.stderr.strip(), seconds
        data = json.loads(report.read_text())
    said = data["findings"][0]["reason"] if data["findings"] else ""
    if data["verdict"] == "PROVED":
        said = f"up to {data['covered']:,} rounds"
    return data["verdict"], said.removeprefix("Not proved: ").partition(". A charge")[0], seconds


def row(*cells: object) -> str:
    """Print and return a row of a table."""
    text = "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |"
    print(text, flush=True)
    return text


def wrong_rows(names: list[str]) -> list[str]:
    """Return the table of the wrong policies."""
    rows = [
        row("policy", "fault", "shown loss", "`check`", "what `code` says", "s"),
        row(*["---"] * 6),
    ]
    for name in names:
        kind = getattr(wrong, name)
        shown = violated(kind, STREAMS.get(name, binary(5)))
        loss = f">= {shown.loss:.2f}" if shown else "not shown"
        verdict, said, seconds = checked(f"wrong.py:{name}")
        fault = " ".join((kind.__doc__ or "").split())
        rows.append(row(name, fault, loss, verdict, said, f"{seconds:.0f}"))
    return rows


def right_rows(names: list[str]) -> list[str]:
    """Return the table of the right policies."""
    rows = [row("policy", "what it is", "`check`", "what `code` says", "s"), row(*["---"] * 5)]
    for name in names:
        horizon = ["--horizon", "60"] if name in ("Local", "Response") else []
        verdict, said, seconds = checked(f"right.py:{name}", *horizon)
        about = (getattr(right, name).__doc__ or "").strip()
        rows.append(row(name, about, verdict, said, f"{seconds:.0f}"))
    return rows


def mutant_rows() -> list[str]:
    """Return the table of the handwritten mutants."""
    from dpaudit.core.mutants import find, names

    rows = [row("mutant", "`check`", "what `code` says", "s"), row(*["---"] * 4)]
    for mutant in map(find, names()):
        if not mutant.declared:
            long = ["--horizon", "3000"] if mutant.family == "elimination" else ["--horizon", "200"]
            # what real runs say of them is in docs/mutants.md
            words = [*long, "--epsilon", f"{mutant.epsilon:g}", "--method", "code"]
            verdict, said, seconds = checked(mutant.target, *words)
            rows.append(row(mutant.name, verdict, said, f"{seconds:.0f}"))
    return rows


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="names of policies")
    arguments = parser.parse_args()
    if arguments.only:
        names = arguments.only.split(",")
        wrong_rows([name for name in names if hasattr(wrong, name) and name in policies(wrong)])
        right_rows([name for name in names if name in policies(right)])
        return
    tables = (right_rows(policies(right)), wrong_rows(policies(wrong)), mutant_rows())
    titles = ("## Right twins", "## Wrong policies", "## Handwritten mutants")
    parts = [HEAD, *(f"{t}\n\n" + "\n".join(r) + "\n" for t, r in zip(titles, tables, strict=True))]
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
