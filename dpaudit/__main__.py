"""`python -m dpaudit` and the `dpaudit` console script."""

import gc
import sys

from dpaudit.cli import run
from dpaudit.inside import YOUNG


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(YOUNG)
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
