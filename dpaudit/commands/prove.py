"""Check the paper's derivations step by step and print the ledger and the theorems above it.

Exit code 0 when every step and theorem ends as its proof file states (errata are stated outcomes),
1 when one does not. With `--only`, the theorems of the results that are checked whole; what they
rest on elsewhere is checked too, and not shown. `--counterexample STEP` replays one step alone and
shows its counterexample. `--mutate` checks mutants of the steps and exits with 1 when one survives
that must not. `--recheck z3` asks another prover (pip install 'dpaudit[recheck]') and exits with 1
when it contradicts a step.

examples:
  dpaudit prove
  dpaudit prove --only karwa_vadhan
  dpaudit prove --counterexample kv.log-ratio
  dpaudit prove --json ledger.json --errata ERRATA.md --graph README.md
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from rich.console import Console

    from dpaudit.claims.claim import Result
    from dpaudit.claims.ledger import Entry, JudgedTheorem

FALSE = ("refuted", "restricted")
ERRATA_MARK = "`python -m dpaudit prove --errata"
GRAPH_MARK = "`python -m dpaudit prove --graph"
HELP = "check the paper's derivations step by step"
_STYLES = {
    "proved": "green",
    "certified": "green",
    "identity": "blue",
    "enumerated": "cyan",
    "sampled": "cyan",
    "granted": "cyan",
    "restricted": "yellow",
    "refuted": "red",
    "unresolved": "magenta",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `prove`."""
    parser.add_argument("target", nargs="?", help=argparse.SUPPRESS)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="check one result, that of a theorem such as thm:minimax, or one step; repeatable",
    )
    parser.add_argument("--json", metavar="FILE", help="write the ledger as JSON; - for stdout")
    parser.add_argument("--errata", metavar="FILE", help="write ERRATA.md; - for stdout")
    parser.add_argument("--graph", metavar="FILE", help="write the graph of theorems; - for stdout")
    parser.add_argument("--counterexample", metavar="STEP", help="replay one step and show why")
    parser.add_argument(
        "--mutate", action="store_true", help="check mutants of every proved step; none may survive"
    )
    parser.add_argument(
        "--recheck", choices=("z3",), help="have every proved step decided again by another prover"
    )
    parser.add_argument("--smt", metavar="DIR", help="with --recheck: keep the SMT-LIB files")
    parser.add_argument("--coq", metavar="DIR", help="write the steps that Coq accepts as .v files")
    parser.add_argument("--list", action="store_true", help="list results and steps, check nothing")


def execute(arguments: argparse.Namespace) -> int:
    """Run the ledger and return the exit code."""
    if arguments.target is not None:
        rule = f"is not for `prove`: a result or a step is --only {arguments.target}, "
        rule += "an algorithm is for `check`."
        raise InvalidArgument("TARGET", arguments.target, rule)
    from dpaudit.claims import ledger
    from dpaudit.output import mark_of, require_writable

    for destination, mark in zip(
        (arguments.json, arguments.errata, arguments.graph),
        (mark_of("ledger"), ERRATA_MARK, GRAPH_MARK),
        strict=True,
    ):
        require_writable(destination, mark)
    results = ledger.load_results()
    if arguments.counterexample:
        return _replay(arguments.counterexample)
    chosen = ledger.select(results, arguments.only)
    if arguments.list:
        for name in ("json", "errata", "graph"):
            if getattr(arguments, name):
                raise InvalidArgument(name, getattr(arguments, name), "--list checks nothing.")
        for result in chosen:
            sys.stdout.write(f"{result.name}: {result.title}\n")
            for claim in result.claims:
                sys.stdout.write(f"  {claim.label}\n")
        return 0
    if arguments.mutate:
        return _mutate(chosen)
    if arguments.recheck:
        return _recheck(chosen, arguments.smt)
    if arguments.coq:
        return _write_coq(chosen, arguments.coq)
    if arguments.graph and arguments.only:
        raise InvalidArgument("only", arguments.only, "checks a part; --graph needs every step.")
    plan = [*chosen, *ledger.below(results, chosen)]
    every, total = _run(plan), sum(len(result.claims) for result in plan)
    if len(every) < total:
        return _interrupted(arguments, every, total)
    entries = every[: sum(len(result.claims) for result in chosen)]
    judged = ledger.standings(results, every, ledger.stated(results, chosen))
    if "-" not in (arguments.json, arguments.errata, arguments.graph):
        _print(entries, judged)
    if arguments.json:
        _write_json(arguments.json, entries, judged)
    if arguments.errata:
        from dpaudit.claims.errata import errata

        _write(arguments.errata, errata(entries), ERRATA_MARK)
    if arguments.graph:
        from dpaudit.claims.overview import overview

        _write(arguments.graph, overview(judged, entries), GRAPH_MARK)
    stated = [entry.expected for entry in entries] + [one.expected for one in judged]
    return 0 if all(stated) else 1


def _interrupted(arguments: argparse.Namespace, entries: list[Entry], total: int) -> int:
    """Show what was finished, and write it where JSON was asked for."""
    kept = "they are shown above"
    if arguments.json != "-":
        _print(entries, [])
    if arguments.json:
        _write_json(arguments.json, entries, [], interrupted=True)
        kept = f"they are kept in {arguments.json}"
    done = f"{len(entries)} of {total} steps were checked"
    sys.stderr.write(f"dpaudit: interrupted; {done}, {kept}.\n")
    return 130


def _write_json(
    target: str, entries: list[Entry], judged: list[JudgedTheorem], interrupted: bool = False
) -> None:
    from dpaudit.claims import ledger
    from dpaudit.output import write_json

    data = {
        "counts": ledger.counts(entries),
        "theorems": [one.record() for one in judged],
        "steps": [entry.record() for entry in entries],
        "interrupted": interrupted,
    }
    write_json(data, target, "ledger")


def _write(target: str, text: str, mark: str) -> None:
    from pathlib import Path

    from dpaudit.output import write_text

    if target == "-":
        sys.stdout.write(_wrapped(text) if sys.stdout.isatty() else text)
    else:
        write_text(Path(target), text, mark)


def _wrapped(text: str) -> str:
    """Return the text within the terminal's lines; tables and drawings stay as they are."""
    import textwrap

    from dpaudit import report

    width, fenced, lines = report.console(quiet=False).width, False, []
    for line in text.split("\n"):
        fenced ^= line.startswith("```")
        if fenced or line.startswith("|") or len(line) <= width:
            lines.append(line)
        else:
            more = "  " * line.startswith("- ")
            lines += textwrap.wrap(line, width, subsequent_indent=more, break_on_hyphens=False)
    return "\n".join(lines)


def _run(chosen: list[Result]) -> list[Entry]:
    """Check every step; on Ctrl-C return those that were checked."""
    from dpaudit.claims import ledger
    from dpaudit.output import progress

    entries: list[Entry] = []
    with progress("prove", sum(len(result.claims) for result in chosen)) as advance:
        try:
            for entry in ledger.run(chosen, lambda claim: advance(0, claim.label)):
                entries.append(entry)
                advance(1)
        except KeyboardInterrupt:
            if not entries:
                raise
    return entries


def _print(entries: list[Entry], judged: list[JudgedTheorem]) -> None:
    from rich.table import Table

    from dpaudit import report
    from dpaudit.claims import ledger

    console = report.console(quiet=False)
    table = Table(box=None, pad_edge=False)
    for name in ("step", "place", "outcome", "domain"):
        whole = name in ("step", "outcome")
        table.add_column(name, overflow="fold", no_wrap=whole, ratio=None if whole else 1)
    about = ""
    for entry in entries:
        if entry.result.name != about:
            about = entry.result.name
            table.add_row(f"[bold]{about}[/]")
        style = _STYLES[entry.outcome.kind]
        kind = entry.outcome.kind if entry.expected else f"{entry.outcome.kind} (surprise)"
        table.add_row(
            f"  {entry.claim.label}",
            entry.claim.place,
            f"[{style}]{kind}[/{style}]",
            _where(entry),
        )
    console.print(table)
    if {entry.result.name for entry in entries} != set(ledger.load_results()):
        for result in ledger.whole(entries):
            console.print(f"\n{result.title}: {result.verdict}", markup=False)
        _print_premises(console, judged)
    if judged:
        _print_theorems(console, judged)
    seconds = sum(entry.seconds for entry in entries)
    parts = [f"{number} {kind}" for kind, number in ledger.counts(entries).items() if number]
    own = sum(not entry.result.in_paper for entry in entries)
    note = f", {own} of them not about the paper" if own else ""
    steps = f"{len(entries)} step{'s' * (len(entries) != 1)}{note}"
    console.print(f"\n{steps}: {', '.join(parts)} ({seconds:.0f} s)")
    false = [entry.claim.label for entry in entries if entry.outcome.kind in FALSE]
    if false:
        console.print(
            f"What is false, and the repair: `--errata -`, or `--counterexample {false[0]}`.",
            markup=False,
        )
    for one in judged:
        if not one.expected:
            words = f"surprise: {one.theorem.label} is {one.standing.kind} {one.standing.leaves}"
            console.print(f"{words}, its file states {one.theorem.expect}.", markup=False)
    for entry in entries:
        if not entry.expected:
            console.print(
                f"surprise: {entry.claim.label} is {entry.outcome.kind}, "
                f"its file states {entry.claim.expect}. {entry.outcome.how} "
                f"{entry.outcome.counterexample}",
                markup=False,
            )


def _where(entry: Entry) -> str:
    """Return where a step is claimed, and where it holds if that is less."""
    from dpaudit.claims import ledger

    if entry.claim.models is not None:
        return entry.outcome.how
    claimed = ledger.domain_of(entry.claim)
    return f"claimed: {claimed}; {entry.outcome.boundary}" if entry.outcome.boundary else claimed


def _print_theorems(console: Console, judged: list[JudgedTheorem]) -> None:
    from rich.table import Table

    from dpaudit.claims.theorem import STANDINGS

    table = Table(box=None, pad_edge=False, title="theorems", title_justify="left")
    for name in ("theorem", "form", "standing", "because of"):
        table.add_column(name, overflow="fold")
    for one in judged:
        style = _STYLES.get(one.standing.kind, "red")
        kind = one.standing.kind if one.expected else f"{one.standing.kind} (surprise)"
        why = ", ".join(one.standing.leaves)
        table.add_row(one.theorem.name, one.theorem.form, f"[{style}]{kind}[/{style}]", why)
    console.print()
    console.print(table)
    for kind in dict.fromkeys(one.standing.kind for one in judged):
        console.print(f"{kind}: {STANDINGS[kind]}", markup=False)


def _print_premises(console: Console, judged: list[JudgedTheorem]) -> None:
    import textwrap

    from dpaudit.claims.overview import reason

    for one in judged:
        theorem = one.theorem
        console.print(f"\n{theorem.label} ({theorem.place}): {one.standing.kind}", markup=False)
        coq = [f"In Coq: {theorem.coq}."] if theorem.coq else []
        for words in (theorem.statement, reason(theorem), *coq):
            lines = textwrap.wrap(words, console.width - 2, break_on_hyphens=False)
            console.print("\n".join(f"  {line}" for line in lines), markup=False)


def _mutate(chosen: list[Result]) -> int:
    """Print what became of the mutants; exit code 1 when a step survives all of its own."""
    from dpaudit.claims.mutation import GOOD, KINDS, TIGHTENED, fates

    claims = [claim for result in chosen for claim in result.claims]
    found = {c.label: list(fates(c)) for c in claims if c.expect in GOOD and c.models is None}
    every = [fate for group in found.values() for fate in group]
    out = [
        f"{len(found)} steps, {len(every)} mutants",
        "",
        "mutation    tried  refuted  unproved  survived",
    ]
    for kind in KINDS:
        mine = [fate for fate in every if fate.kind == kind]
        proved, false = sum(f.survived for f in mine), sum(f.refuted for f in mine)
        rest = len(mine) - proved - false
        out.append(f"{kind:<10}{len(mine):>7}{false:>9}{rest:>10}{proved:>10}")
    loose = [fate.label for fate in every if fate.survived and fate.kind == TIGHTENED]
    needless = [fate.label for fate in every if fate.survived and fate.kind != TIGHTENED]
    idle = [label for label, group in found.items() if all(fate.survived for fate in group)]
    out += ["", f"loose, with more than 1% to spare: {', '.join(loose) or 'none'}"]
    out += [f"proved when negated or without a hypothesis: {', '.join(needless) or 'none'}"]
    out += [f"steps that no mutation breaks: {', '.join(idle) or 'none'}"]
    _say(out)
    return 1 if needless or idle else 0


def _say(lines: list[str]) -> None:
    """Print lines, each within the terminal's; names are not broken."""
    import textwrap

    from dpaudit import report

    width = report.console(quiet=False).width
    for line in lines:
        print(textwrap.fill(line, width, break_on_hyphens=False))


def _recheck(chosen: list[Result], directory: str | None) -> int:
    """Print what z3 says of every proved step; exit code 1 when it contradicts one."""
    from pathlib import Path

    from dpaudit.claims.mutation import GOOD
    from dpaudit.claims.smt import CONTRADICTED, MARK, VERDICTS, recheck
    from dpaudit.output import write_text
    from dpaudit.page.collection import prepare

    claims = [claim for result in chosen for claim in result.claims]
    proved = [claim for claim in claims if claim.expect in GOOD and claim.models is None]
    if directory:
        prepare(Path(directory))
    found: dict[str, list[str]] = {verdict: [] for verdict in VERDICTS}
    for claim, verdict, text in recheck(proved):
        found[verdict].append(claim.label)
        if directory and text:
            write_text(Path(directory) / f"{claim.label}.smt2", text, MARK)
    out = [f"z3 on {len(proved)} proved steps:"]
    out += [f"  {verdict:<16}{len(labels):>4}" for verdict, labels in found.items()]
    out += [f"{verdict}: {', '.join(found[verdict]) or 'none'}" for verdict in VERDICTS[1:]]
    _say(out)
    return 1 if found[CONTRADICTED] else 0


def _write_coq(chosen: list[Result], target: str) -> int:
    from pathlib import Path

    from dpaudit.claims.coq import MARK, modules
    from dpaudit.output import write_text
    from dpaudit.page.collection import prepare

    directory = Path(target)
    prepare(directory)
    for name, text in modules(chosen).items():
        write_text(directory / f"{name}.v", text, MARK)
    return 0


def _replay(label: str) -> int:
    import textwrap

    from dpaudit import report
    from dpaudit.claims import ledger
    from dpaudit.claims.check import check

    result, claim = ledger.find_claim(ledger.load_results(), label)
    outcome = check(claim)
    lines = [
        f"{claim.label} ({result.title}; {claim.place})",
        f"  {claim.statement}",
        f"  domain: {ledger.domain_of(claim)}",
        f"  outcome: {outcome.kind}{f'; {outcome.how}' * (outcome.how != outcome.kind)}",
    ]
    lines += [f"  {outcome.boundary}"] if outcome.boundary else []
    lines += [f"  counterexample: {outcome.counterexample}"] if outcome.counterexample else []
    lines += [f"  correction: {claim.correction}"] if claim.correction else []
    lines += [f"  consequence: {claim.survives}"] if claim.survives else []
    width = report.console(quiet=False).width
    for line in lines:
        print(textwrap.fill(line, width, subsequent_indent="    ", break_on_hyphens=False))
    return 0 if outcome.kind == claim.expect else 1
