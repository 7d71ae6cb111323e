"""`python -m dpaudit` and the `dpaudit` console script."""

import sys

from dpaudit.cli import run


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
