"""How long work may take that nobody was asked about: an estimate, and `--yes` to do it anyway."""

from __future__ import annotations

import argparse

from dpaudit.errors import InvalidArgument

LONGEST = 3600.0  # seconds
UNITS = ((365.25 * 86400.0, "years"), (86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"))


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Declare the option that accepts a long wait."""
    parser.add_argument(
        "--yes", action="store_true", help="do what is estimated to take more than an hour"
    )


def require_soon(seconds: float, accepted: bool = False) -> None:
    """Raise with an estimate where work would take longer than anybody waits unasked."""
    if seconds > LONGEST and not accepted:
        size, name = next(it for it in UNITS if seconds >= 2 * it[0] or it == UNITS[-1])
        shown = f"about {seconds / size:,.0f} {name}"
        rule = "is long; add --yes (in Python, yes=True) to do it all the same."
        raise InvalidArgument("time", shown, rule)
