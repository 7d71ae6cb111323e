"""Re-check a certificate of a proof of code, in exact arithmetic, with nothing of the prover.

FILE is what `dpaudit check TARGET --certificate FILE` has written: states, moves, forms, shifts and
charges. Every charge is added up again and every branch must have all of its outcomes. That the
forms are what the code does is not part of it; the digest says which text was read. Exit 0 if it
holds, 1 if not, 2 if there is no certificate to read.

example:
  dpaudit check my_bandit.py:Policy --certificate proof.json
  dpaudit verify proof.json
"""

from __future__ import annotations

import argparse

HELP = "re-check a certificate of a proof of code"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the argument."""
    parser.add_argument("file", metavar="FILE", help="what check --certificate has written")


def execute(arguments: argparse.Namespace) -> int:
    """Check a certificate and say what it shows."""
    import json
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
    print(
        f"VERIFIED  {data['target']}: epsilon*({found.horizon:,}) <= {float(found.charge):.12g} "
        f"for {data['arms']} arms, epsilon = {float(found.epsilon):g}"
    )
    print(f"  {len(found.states):,} states and {len(found.moves):,} moves re-checked in fractions")
    print(
        f"  of the text with sha256 {data['sha256'][:16]}...; that it was read right is not shown"
    )
    return 0
