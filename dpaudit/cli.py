"""The command line: one module of `dpaudit.commands` is one subcommand.

A command module holds `HELP` (one line), `add_arguments(parser)` and `execute(arguments) -> int`.
It imports heavy packages inside `execute`, so that `--help` stays fast. Exit codes: 0 proved,
holds or done; 1 refuted; 2 usage or tool error; 3 undecided; 4 stale or weakened lock;
130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import re
import sys
import textwrap
import traceback
from collections.abc import Sequence
from typing import NoReturn

from dpaudit import __version__, commands
from dpaudit.errors import DpauditError, InvalidArgument, UnknownName

DESCRIPTION = "Tells whether a bandit algorithm that claims differential privacy really has it."
EPILOG = """exit codes:
  0 proved, holds, or done    1 refuted    2 usage or tool error
  3 undecided    4 stale or weakened lock    130 interrupted

examples:
  dpaudit list
  dpaudit check adap_klucb
  dpaudit simulate adap_klucb --env C2 --epsilon 1 --horizon 1e7 --runs 100
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}\n")
        raise SystemExit(2)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help whose prose is as wide as the terminal; what is set in keeps its lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(_fitted(part, width) for part in textwrap.dedent(text).split("\n\n"))


def _fitted(paragraph: str, width: int) -> str:
    """Return a paragraph within a width: a list of words with their meanings hangs below these."""
    lines = paragraph.strip("\n").splitlines()
    if not any(line.startswith(" ") for line in lines):
        return textwrap.fill(" ".join(lines), width, break_on_hyphens=False)
    fitted = []
    for line in lines:
        hang = re.match(r" +\S+  +(?=\S)", line)
        below = " " * (hang.end() if hang else 0)
        long = hang is not None and len(line) > width
        fitted += textwrap.wrap(line, width, subsequent_indent=below) if long else [line]
    return "\n".join(fitted)


def parser() -> argparse.ArgumentParser:
    """Return the parser with every discovered command."""
    top = _Parser(
        prog="dpaudit",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=_Help,
    )
    top.add_argument("--version", action="version", version=f"dpaudit {__version__}")
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in sorted(pkgutil.iter_modules(commands.__path__), key=lambda item: item.name):
        command = importlib.import_module(f"{commands.__name__}.{module.name}")
        sub = subparsers.add_parser(
            module.name,
            help=command.HELP,
            description=command.__doc__,
            formatter_class=_Help,
        )
        command.add_arguments(sub)
        sub.set_defaults(execute=command.execute)
    return top


def require_command(word: str) -> None:
    """Raise for a first word that is no command, with the nearest one or with what was meant."""
    known = [module.name for module in pkgutil.iter_modules(commands.__path__)]
    if word in known or word.startswith("-"):
        return
    from dpaudit.core.algorithms import names

    if ":" in word or "/" in word or word in names():
        raise InvalidArgument("COMMAND", word, f"is a TARGET: write `dpaudit check {word}`.")
    raise UnknownName("command", word, known)


def run(argv: Sequence[str]) -> int:
    """Execute one command line and return its exit code; bad input costs one line, no traceback."""
    try:
        for word in argv[:1]:
            require_command(word)
        arguments = parser().parse_args(argv)
    except DpauditError as error:
        sys.stderr.write(f"dpaudit: {error}\n")
        return error.exit_code
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    try:
        code: int = arguments.execute(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # what rich makes of it
            return _unheard()
        # No command exits this way: the code that is judged did, and its 0 must not look like ours.
        sys.stderr.write("dpaudit: the judged code called sys.exit; nothing is concluded.\n")
        return 2
    except DpauditError as error:
        sys.stderr.write(f"dpaudit: {error}\n")
        return error.exit_code
    except KeyboardInterrupt as stop:
        # a command that keeps something says what and where
        kept = f"; {stop}" if str(stop) else ""
        sys.stderr.write(f"dpaudit: interrupted{kept}.\n")
        return 130
    except BrokenPipeError:
        return _unheard()
    except Exception:
        # A traceback alone would exit 1, which means refuted.
        traceback.print_exc()
        sys.stderr.write("dpaudit: unexpected error, shown above; nothing is concluded.\n")
        return 2


def _unheard() -> int:
    """Return the exit code of a command whose reader is gone, as a shell would."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141
