"""Re-check a certificate of a proof, in exact arithmetic, with nothing of the provers.

FILE is what `dpaudit check TARGET --certificate FILE` has written. Of code: states, moves, forms,
shifts and charges; of a declaration: its public states with their requests, or the releases of
every arm. Every charge is added up again, and every branch must have all of its outcomes. That
forms and requests are those of the target is not part of it; the digest says which text was read.
Exit 0 if it holds, 1 if not, 2 if there is no certificate to read.

example:
  dpaudit check my_bandit.py:Policy --certificate proof.json
  dpaudit check adap_ucb --certificate proof.json
  dpaudit verify proof.json
"""

from __future__ import annotations

import argparse

HELP = "re-check a certificate of a proof"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    parser.add_argument("file", metavar="FILE", help="what check --certificate has written")


def execute(arguments: argparse.Namespace) -> int:
    """Check a certificate and say what it shows."""
    import json
    from fractions import Fraction
    from pathlib import Path

    from dpaudit.errors import InvalidArgument
    from dpaudit.verify import Rejected, verify

    try:
        data = json.loads(Path(arguments.file).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidArgument(
            "FILE", arguments.file, f"cannot be read: {error.strerror}."
        ) from None
    except ValueError:
        raise InvalidArgument("FILE", arguments.file, "is not JSON.") from None
    try:
        found = verify(data)
    except Rejected as error:
        print(f"REJECTED  {arguments.file}: {error}.")
        return 1
    target, arms, epsilon = data["target"], data["arms"], float(Fraction(data["epsilon"]))
    bound = f"epsilon*({found.horizon:,}) <= {float(found.worst):.12g}"
    print(f"VERIFIED  {target}: {bound} for {arms} arms, epsilon = {epsilon:g}")
    print(f"  {found.size} re-checked in fractions")
    if data["kind"] == "code":
        text = f"of the text with sha256 {data['sha256'][:16]}...; that it was read right"
    else:
        text = f"that these are the requests of {target}"
    print(f"  {text} is not shown")
    return 0
