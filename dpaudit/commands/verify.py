"""Re-check a certificate of a proof, in exact arithmetic, with nothing of the provers.

FILE is what `dpaudit check TARGET --certificate FILE` has written. Of code: states, moves, forms,
shifts and charges; of a declaration: its public states with their requests, or the releases of
every arm. Every charge is added up again, and every branch must have all of its outcomes. That
forms and requests are those of the target is not part of it; the digest says which text was read.
Exit 0 if it holds, 1 if not, 2 if there is no certificate to read, 4 if it holds of another text
than the files have now, or these are not where it is run (paths are looked up from there).

example:
  dpaudit check my_bandit.py:Policy --certificate proof.json
  dpaudit check adap_ucb --certificate proof.json
  dpaudit verify proof.json
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from pathlib import Path

WIDTH = 100
LARGEST = 1e9  # of an epsilon that says something
HELP = "re-check a certificate of a proof"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    parser.add_argument("file", metavar="FILE", help="what check --certificate has written")


def execute(arguments: argparse.Namespace) -> int:
    """Check a certificate and say what it shows."""
    from fractions import Fraction

    from dpaudit.documents import load, shown
    from dpaudit.output import waiting
    from dpaudit.report import console
    from dpaudit.verify import Rejected, verify

    data = load(Path(arguments.file), "FILE")
    try:
        with waiting(console(quiet=False), "verifying"):
            found = verify(data)
        if missing := [name for name in ("target", "arms", "sha256") if not data.get(name)]:
            raise Rejected(f"{missing[0]} is missing")
        if not isinstance(data.get("beside", {}), dict):
            raise Rejected("beside is no table of files")
        if (epsilon := Fraction(data["epsilon"])) > LARGEST:
            raise Rejected(f"epsilon is above {LARGEST:g}")
    except Rejected as error:
        print(f"REJECTED  {arguments.file}: {shown(str(error))}.")
        return 1
    target, arms = shown(data.get("target")), shown(data.get("arms"))
    above = float(found.worst - epsilon)
    charge = f"{float(epsilon):.12g} + {above:.1e}" if above > 0 else f"{float(found.worst):.12g}"
    bound = f"epsilon*({found.horizon:,}) <= {charge}"
    other = ""
    if data["kind"] == "code":
        digest, file = str(data.get("sha256")), _file(str(data["target"]))
        other = _changed(file, digest, shown(target.rpartition(":")[0] or target))
        for name, known in data.get("beside", {}).items():
            other += _changed(file.parent / str(name), str(known), shown(name))
        name = f"sha256 {shown(digest[:16])}...{other}"
        text = (
            f"of the text with {name}; that its object, arms, rounds and comparisons are these, "
            "and that it has forgotten the rewards that end,"
        )
    else:
        text = f"that these are the requests of {target}"
    verdict = "ADDS UP " if other else "VERIFIED"
    print(f"{verdict}  {bound} for {arms} arms, epsilon = {float(epsilon):g}, of {target}")
    print(f"  {found.size} re-checked in fractions")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    print(textwrap.fill(f"  {text} is not shown", width, subsequent_indent="  "))
    if other:
        print("STALE: nothing shows that the proof is of what the files have now; check it again")
    return 4 if other else 0


def _file(target: str) -> Path:
    """Return where the judged code is, or would be."""
    from dpaudit.errors import DpauditError
    from dpaudit.symbolic.subject import located

    try:
        return located(target)[0]
    except DpauditError:
        return Path(target.rpartition(":")[0])


def _changed(path: Path, known: str, name: str) -> str:
    """Return that a file has another text than the one proved, or is not there; else nothing."""
    import hashlib

    try:
        found = hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()
    except OSError:
        return f", and there is no {name} here"
    if (path.with_suffix("") / "__init__.py").exists():
        return f", and a package goes before {name} now"
    return "" if found == known else f", and {name} has changed since"
