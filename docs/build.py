"""Write the outputs that the handbook shows: run every command of every chapter, in order.

    python docs/build.py            rewrite the outputs
    python docs/build.py --check    change nothing; exit 1 if a shown output is not the real one

A block ```` ```console ```` holds commands after `$ ` and what they print. A block
```` ```python NAME.py ```` is a file that the commands of its chapter use; so is a block of any
other language with a file name. Every chapter runs in an empty directory of its own. Seconds are
the only thing that may differ. Exit codes other than 0 are shown as `[exit code N]`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from dpaudit.cli import run

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
SECONDS = re.compile(r"\b\d+\.\d s\b")
PREFIX = "python -m dpaudit "
ELSEWHERE = {
    "audits.md",
    "faults.md",
    "gate.md",
    "mutants.md",
    "trusted-base.md",
    "tutorial.md",  # tests/docs/test_tutorial.py plays it
}


def chapters() -> list[Path]:
    """Return the pages whose outputs are generated here.

    The gate's needs a repository around it; the tables of audits and mutants come from benchmarks,
    and a benchmark reads that of the trusted base.
    """
    return sorted(path for path in HERE.glob("*.md") if path.name not in ELSEWHERE)


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """Work in an empty directory, as a fresh shell would, and leave no trace."""
    before, known, path = Path.cwd(), set(sys.modules), list(sys.path)
    hidden = {name: os.environ.pop(name, None) for name in ("FORCE_COLOR", "COLUMNS")}
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        sys.path.insert(0, directory)
        try:
            yield Path(directory)
        finally:
            os.chdir(before)
            sys.path[:] = path
            os.environ.update({k: v for k, v in hidden.items() if v is not None})
            for name in set(sys.modules) - known:
                file = getattr(sys.modules[name], "__file__", None)
                if file and file.startswith(directory):
                    del sys.modules[name]


def printed(command: str) -> str:
    """Return what a command prints, errors included, and its exit code where it is not 0."""
    if not command.startswith(PREFIX):
        raise ValueError(f"a chapter may only run {PREFIX.strip()}, not: {command}")
    words = tuple(shlex.split(command[len(PREFIX) :]))
    # what names a file may print something else in the next chapter
    ran = cached if words[0] == "check" and "." not in command else cached.__wrapped__
    return ran(words)


@lru_cache
def cached(words: tuple[str, ...]) -> str:
    """Run a command; what chapters share is run once."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = run(list(words))
    text = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    return f"{text}\n[exit code {code}]" if code else text


def commands(block: str) -> list[str]:
    """Return the commands of a console block."""
    return [line[2:] for line in block.splitlines() if line.startswith("$ ")]


def rebuilt(source: str) -> str:
    """Return a chapter with the outputs of its commands as they are now."""

    def block(match: re.Match[str]) -> str:
        language, name, content = match.groups()
        if language == "console":
            parts = [f"$ {line}\n{printed(line)}".rstrip() for line in commands(content)]
            return "```console\n" + "\n".join(parts) + "\n```"
        if name:
            Path(name).write_text(content, encoding="utf-8")
        return match.group(0)

    with workplace():
        return BLOCK.sub(block, source)


def consoles(source: str) -> list[str]:
    """Return the console blocks of a chapter."""
    return [content for language, _, content in BLOCK.findall(source) if language == "console"]


def settled(block: str) -> str:
    """Return a block in which seconds do not count, nor line breaks where there are seconds."""
    if not SECONDS.search(block):
        return block
    return " ".join(SECONDS.sub("0.0 s", block).split())


def main() -> int:
    """Rewrite or check every chapter."""
    stale = []
    for path in chapters():
        before = path.read_text(encoding="utf-8")
        after = rebuilt(before)
        if [*map(settled, consoles(before))] != [*map(settled, consoles(after))]:
            stale.append(path.name)
            if "--check" not in sys.argv[1:]:
                path.write_text(after, encoding="utf-8")
    print("stale: " + ", ".join(stale) if stale else "every shown output is the real one")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
