"""Trace where a reward gets through: a diagnosis of foreign Python code that takes a `rng`.

Runs file.py:object on pairs of neighbouring streams with an instrumented generator, hands the
second run the released values of the first, and reports every release that changed too much for its
noise, and the first action that still differs, with source lines. It diagnoses and never proves;
`--offer FILE` writes the pair it found for `dpaudit audit --pair FILE`. Exit 3 when something
suspicious was found, 0 when nothing was, which is not a proof.

example:
  dpaudit trace my_bandit.py:Policy --epsilon 1 --arms 3 --offer pair.json
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

HELP = "show where an un-noised reward reaches an action of foreign code"
ASKED = ("target", "epsilon", "arms", "horizon", "seed", "seeds", "rewards", "pair", "time_limit")
GRACE = 5.0  # seconds beyond the limit of a run until its process is stopped


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("target", metavar="TARGET", help="file.py:object")
    parser.add_argument("--epsilon", type=float, default=1.0, help="claimed epsilon (1)")
    parser.add_argument("--arms", type=int, default=2, help="number of arms (2)")
    parser.add_argument("--horizon", type=int, default=100, help="steps of a run (100)")
    parser.add_argument("--seed", type=int, default=0, help="seed (0)")
    parser.add_argument("--seeds", type=int, default=3, help="runs per pair (3)")
    parser.add_argument(
        "--rewards", choices=("unit", "binary"), default="unit", help="rewards of the streams"
    )
    parser.add_argument(
        "--pair", action="append", default=[], metavar="FILE", help="trace your own pair"
    )
    parser.add_argument(
        "--time-limit", type=float, default=60.0, metavar="SECONDS", help="longest run (60)"
    )
    parser.add_argument("--offer", metavar="FILE", help="write the found pair for audit --pair")
    parser.add_argument("--json", metavar="FILE", help="write the findings as JSON (- for stdout)")


def execute(arguments: argparse.Namespace) -> int:
    """Trace, print the findings, and return 3 if there are any."""
    from dpaudit.errors import InvalidArgument, require_integer, require_positive
    from dpaudit.output import mark_of, require_writable, write_json
    from dpaudit.process import answer
    from dpaudit.target import foreign, resolve

    require_writable(arguments.json)
    require_writable(arguments.offer, mark_of("pair"))
    require_positive("epsilon", arguments.epsilon)
    require_integer("seed", arguments.seed, 0)
    require_integer("seeds", arguments.seeds, 1)
    require_positive("time-limit", arguments.time_limit)
    if not foreign(arguments.target):
        resolve(arguments.target)
        rule = "is a declared algorithm; trace is for file.py:object. Try `dpaudit check`."
        raise InvalidArgument("TARGET", arguments.target, rule)
    asked = {name: getattr(arguments, name) for name in ASKED}
    limit = arguments.time_limit + GRACE
    found = answer(arguments.target, traced, asked, limit)
    if arguments.offer and found["offered"]:
        write_json(found["offered"], arguments.offer, "pair")
    if arguments.json:
        write_json(found["diagnosis"], arguments.json)
    if arguments.json != "-":
        print("\n".join(found["lines"]))
        if arguments.offer and found["offered"]:
            print(
                f"  pair written; judge it: dpaudit audit {arguments.target} "
                f"--arms {arguments.arms} --epsilon {arguments.epsilon:g} "
                f"--pair {arguments.offer}"
            )
    return 3 if found["suspicious"] else 0


def traced(tell: Callable[[str, Any], None], **asked: Any) -> dict[str, Any]:
    """Trace in the process of the target; every run has its time anew."""
    from dataclasses import replace
    from pathlib import Path

    from dpaudit.sample.boxes import file_box
    from dpaudit.sample.codec import pair_data
    from dpaudit.sample.request import pairs_of
    from dpaudit.sample.text import trace_lines
    from dpaudit.sample.trace import diagnose

    arguments = argparse.Namespace(**asked)
    box = file_box(
        arguments.target,
        arguments.arms,
        arguments.horizon,
        arguments.epsilon,
        arguments.time_limit,
    )

    def build(rng: Any) -> Any:
        tell("limit", arguments.time_limit + GRACE)
        return box.build(rng)

    pairs = pairs_of(arguments, box)
    seeds = range(arguments.seed, arguments.seed + arguments.seeds)
    # as the interpreter names it in its frames
    file = str(Path(arguments.target.rpartition(":")[0]).absolute())
    diagnosis = diagnose(replace(box, build=build), pairs, arguments.epsilon, seeds, file)
    offered = None
    if diagnosis.offered:
        pair, stop = diagnosis.offered
        offered = {**pair_data(pair), "prefixes": [stop] if stop else []}
    return {
        "diagnosis": diagnosis,
        "lines": trace_lines(diagnosis),
        "offered": offered,
        "suspicious": diagnosis.suspicious,
    }
