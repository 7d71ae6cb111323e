"""The report of `check` for people: the claim, one line per check, the verdict, the counterexample.

Every sentence says what was concluded and about which size; what no check covers is named.
"""

from __future__ import annotations

import math
import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from dpaudit.core.arithmetic import at_least, at_most, in_digits
from dpaudit.core.notions import Kind, Notion
from dpaudit.judging import PrivacyClaim, Report
from dpaudit.parsing import written
from dpaudit.verdict import ANY_REWARDS, Bracket, Enclosure, Finding, Program, Status, Witness

if TYPE_CHECKING:
    from rich.console import Console

    from dpaudit.replay import Replayed

COLOURS = {
    Status.PROVED: "bold green",
    Status.HOLDS: "green",
    Status.SILENT: "yellow",
    Status.REFUTED: "bold red",
}
NOT_COVERED_OF_CODE = "{}timing, {}and code that tells its reader from Python"
ROUNDING_OF_CODE = "rounding in floating-point samplers and sums, "
TYPES = "of other types than float, int, float64 and int64, or of several in one stream, "
OUTSIDE = f"rewards outside of [0, 1] or {TYPES}"
BEYOND = f"rewards of more than 1e9, nan or {TYPES}"
ROUNDING = "rounding in floating-point samplers, "
NOT_COVERED = "timing, and code that runs something else than the declaration"
LONGEST_ROW = 40
MARGIN = 22
WIDTH = 100
UNBROKEN = "\u00a0"  # a space at which no line ends
JOINED = "\u2060"  # nothing, and no line ends there


def console(quiet: bool) -> Console:
    """Return a console for standard output: a terminal's own width, 100 columns in a pipe."""
    from rich.console import Console

    out = Console(highlight=False, quiet=quiet)
    if not out.is_terminal:
        out.width = WIDTH
    return out


def show_claim(out: Console, claim: PrivacyClaim) -> None:
    """Print what is judged."""
    verb = "claims" if claim.own else "is judged against"
    shown = [f"arms {claim.arms:,}"]
    notion = claim.judged
    said = {"arms": claim.arms, **notion.numbers}
    shown += [
        f"{name} {written(value)}"
        for name, value in claim.parameters.items()
        if name != "horizon" and said.get(name) != value
    ]
    shown += [f"horizon {claim.horizon:,}", "anytime" if claim.anytime else "horizon known ahead"]
    out.print(
        f"[bold]{_plain(claim.algorithm)}[/] {verb} {notion} "
        f"({notion.kind.described}; {', '.join(shown)}).\n"
    )


def show_finding(out: Console, finding: Finding) -> None:
    """Print one check: what it concludes, the interval it leaves, and why."""
    seconds = f" [{finding.seconds:.1f}{UNBROKEN}s]" if finding.seconds else ""
    text = textwrap.wrap(
        conclusion(finding) + seconds, min(out.width, 100) - MARGIN, break_long_words=False
    )
    head = f"  {finding.check:<11}[{COLOURS[finding.status]}]{finding.status:<9}[/]"
    shown = f"\n{' ' * MARGIN}".join(text).replace(UNBROKEN, " ")
    out.print(head + _plain(shown), soft_wrap=True)


def show_verdict(out: Console, report: Report, command: str, saved: str | None) -> None:
    """Print the verdict, its meaning, the counterexample if any, and what is not covered."""
    refutation = next((f for f in report.findings if f.status is Status.REFUTED), None)
    if refutation is not None and refutation.witness is not None:
        show_witness(out, refutation.witness, refutation.instance)
    if report.interrupted:
        done = "the checks above are all that was" if report.findings else "no check was"
        out.print(f"\nInterrupted: {done} finished.")
    colour = COLOURS[report.verdict]
    reach = f" up to {report.covered:,} of {report.claim.horizon:,} rounds" * report.partial
    if report.always:
        reach = " at every horizon"
    out.print(f"\n[{colour}]{report.verdict}[/]{reach}: {_plain(meaning(report))}")
    if refutation is not None and refutation.witness is not None:
        from dpaudit.replay import line

        if saved is None:
            out.print("Save the counterexample and replay it from scratch:", style="dim")
            out.print(f"  {_plain(command)} --witness witness.json", soft_wrap=True)
            out.print(f"  {_plain(line('witness.json', report.claim))}", soft_wrap=True)
        else:
            out.print("Replay it from scratch:", style="dim")
            out.print(f"  {_plain(line(saved, report.claim))}", soft_wrap=True)
    elif report.replay is not None:
        _show_runs(out, report, command, saved)
    elif report.verdict is not Status.REFUTED:
        if report.implies:
            out.print(_plain(f"This implies {also(report)}."))
        program = next((it.program for it in report.findings if it.program is not None), None)
        rounding = next((it.rounding for it in report.findings if it.rounding), "")
        if program is not None:
            out.print(_plain(in_doubles(program)))
        elif rounding:
            out.print(_plain(f"In doubles: {rounding}"))
        out.print(f"Not covered: {left_out(report)}.", style="dim")


def left_out(report: Report) -> str:
    """Return what the checks do not cover: of a declaration, or of code as it stands."""
    program = any(it.program is not None for it in report.findings)
    if not report.code:
        return ROUNDING * (not program) + NOT_COVERED
    clipped = any(found.streams == ANY_REWARDS for found in report.findings)
    return NOT_COVERED_OF_CODE.format(
        ROUNDING_OF_CODE * (not program), BEYOND if clipped else OUTSIDE
    )


def also(report: Report) -> str:
    """Return what a proof implies under other notions."""
    said = []
    for it in report.implies:
        name, *where = it.measure.partition(" at ")
        said.append(f"{name} <= {at_most(it.upper, 6)}{''.join(where)}")
    return f"{', '.join(said)}, as of any mechanism of this {report.bracket.measure}"


def in_doubles(program: Program) -> str:
    """Return what is proved of a program that runs, in two sentences."""
    if program.epsilon is None:
        pair = "has all that is proved, for every event"
    elif program.delta:
        pair = f"is ({at_most(program.epsilon)}, {at_most(program.delta, 3)})-DP"
    else:
        pair = f"is {at_most(program.epsilon)}-DP, for every event"
    return f"In doubles: {program.name}, {pair}. Assumed: {program.assumes}."


def _show_runs(out: Console, report: Report, command: str, saved: str | None) -> None:
    """Print how to judge the same pair and event again, on new runs."""
    if saved is None:
        out.print("Save the pair and the event, and judge them on new runs:", style="dim")
        out.print(f"  {_plain(command)} --witness witness.json", soft_wrap=True)
    else:
        out.print("Judge the pair and the event on new runs:", style="dim")
    target = report.claim.target
    words = f"python -m dpaudit audit {target} --replay {saved or 'witness.json'}"
    out.print(f"  {_plain(words)}", soft_wrap=True)


def meaning(report: Report) -> str:
    """Return the verdict in one or two sentences, with the size it speaks of."""
    claim = report.claim
    epsilon = str(claim.judged)
    size = report.covered
    if report.verdict is Status.PROVED and claim.notion is not None:
        inside = report.bracket
        known = bounds(inside.lower, inside.upper, claim.horizon, inside.measure)
        said = f"{promise(claim.notion, size)} {known}".rstrip()
    elif report.verdict is Status.PROVED:
        length = ", however long," if report.always else f" of up to {size:,} rounds"
        said = (
            f"no action sequence{length} changes its likelihood by more than a "
            f"factor e^epsilon when one reward changes. {bounds(report.lower, report.upper, size)}"
        ).rstrip()
    elif report.verdict is Status.HOLDS:
        said = (
            f"{epsilon} is respected by every action sequence and every pair of neighbouring "
            f"streams of {size:,} rounds."
        )
    elif report.verdict is Status.REFUTED:
        refuted = next(f for f in report.findings if f.status is Status.REFUTED)
        return _refuted(refuted, claim, epsilon)
    else:
        return f"undecided. Neither proved nor refuted at {epsilon}; no conclusion about privacy."
    if report.partial:
        said += f" Nothing is said about longer runs, and {claim.horizon:,} rounds were claimed."
    other = next((f for f in report.findings if f.status is Status.REFUTED), None)
    if other is not None:
        said += (
            f" The instance built for {other.instance:,} rounds is another one, and does not have "
            f"{epsilon}."
        )
    return said


def _refuted(finding: Finding, claim: PrivacyClaim, epsilon: str) -> str:
    """Return what a refutation says of which instance."""
    if finding.instance is not None:
        return (
            f"the instance of {claim.algorithm} built for {finding.instance:,} rounds does not "
            f"have {epsilon}. The claimed one, built for {claim.horizon:,} rounds, is another "
            "instance, and neither proved nor refuted."
        )
    said = f"{claim.algorithm} does not have {epsilon}. The violation shows within "
    if claim.anytime:
        return (
            f"{said}{finding.horizon:,} rounds, and a longer run contains it: every horizon from "
            f"{finding.horizon:,} on is refuted."
        )
    return f"{said}the first {finding.horizon:,} rounds of the claimed instance."


def show_witness(out: Console, witness: Witness, instance: int | None = None) -> None:
    """Print a counterexample: both streams, the actions, both likelihoods and the loss."""
    length = len(witness.actions)
    to = "" if instance is None else f" to the instance built for {instance:,} rounds,"
    out.print(f"\nCounterexample{to} with {length} rounds; one reward differs, at round", end=" ")
    out.print(f"{witness.position + 1}:")
    rows = (
        ("actions", [str(arm) for arm in witness.actions]),
        ("stream", [f"{reward:g}" for reward in witness.stream]),
        ("neighbour", [f"{reward:g}" for reward in witness.neighbour]),
    )
    short = length <= LONGEST_ROW and all(len(cell) == 1 for _, cells in rows for cell in cells)
    for name, cells in rows:
        out.print(f"  {name:<12}{' '.join(cells) if short else runs(cells)}")
    if short:
        out.print(f"  {'':<12}{'  ' * witness.position}^")
    out.print(f"  likelihood  {interval(witness.likelihood)} on the stream")
    out.print(f"              {interval(witness.likelihood_neighbour)} on its neighbour")
    kind = "certified" if witness.loss.certified else "floating point"
    sign = ">" if witness.loss.lower > witness.epsilon else "against"
    out.print(
        f"  loss        {interval(witness.loss)} {sign} {in_digits(witness.epsilon)} ({kind})"
    )


def show_replay(out: Console, found: Replayed) -> None:
    """Print a recomputed counterexample and whether it is confirmed."""
    witness = found.witness
    out.print(f"[bold]{_plain(witness.target)}[/] with {_plain(_pairs(witness.parameters))}")
    show_witness(out, witness)
    level = in_digits(witness.epsilon)
    if found.confirmed:
        kind = "in certified arithmetic" if witness.loss.certified else "in floating point"
        out.print(f"\n[bold red]CONFIRMED[/] {kind}: the loss is above {level}.")
    else:
        out.print(f"\n[yellow]NOT CONFIRMED[/]: the loss is not above {level}.")
        if witness.likelihood.upper == witness.likelihood_neighbour.upper == 0:
            out.print("The actions are impossible on both streams.")
    if found.stated != witness.epsilon:
        stated = in_digits(found.stated)
        out.print(f"The file is about a claim of {stated}; `--epsilon` judges another one.")
    if not found.agrees:
        out.print("The loss that the file records is a different one: its numbers are stale.")


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "no parameters"


def runs(cells: Sequence[str]) -> str:
    """Return a long row as runs: `0 x5, 1 x3`."""
    grouped = [(value, len(list(group))) for value, group in groupby(cells)]
    return ", ".join(value if count == 1 else f"{value} x{count}" for value, count in grouped)


def interval(enclosure: Enclosure) -> str:
    """Return an enclosure as one number where both ends print alike, else as an interval."""
    low, high = at_least(enclosure.lower), at_most(enclosure.upper)
    return low if low == high else f"[{low}, {high}]"


def bounds(
    low: float, high: float, horizon: int, measure: str = "epsilon", sign: str = "<="
) -> str:
    """Return what is known of the largest loss at a horizon, as a sentence; empty for nothing.

    The `sign` stands after the lower end: a level that runs have refuted is below the loss.
    """
    name = f"{measure}*({horizon:,})"
    if low == math.inf:
        return f"{name} is infinite."
    if low <= 0 and high == math.inf:
        return ""
    left = f"{at_least(low)} {sign} " if low > 0 else ""
    right = f" <= {at_most(high)}" if high < math.inf else ""
    return f"{left}{name}{right}."


def promise(notion: Notion, rounds: int) -> str:
    """Return what a proof of a notion means, as a sentence that goes on after a colon."""
    some = "one" if notion.unit == 1 else str(notion.unit)
    changes = f"when {some} of up to {rounds:,} rewards change{'s' * (notion.unit == 1)}"
    return {
        Kind.PURE: f"no likelihood changes by more than a factor e^epsilon {changes}.",
        Kind.ZCDP: f"no Renyi divergence of order alpha exceeds alpha rho {changes}.",
        Kind.GDP: f"no test tells the streams apart better than N(0, 1) from N(mu, 1) {changes}.",
        Kind.APPROXIMATE: f"no event gains more than e^epsilon times and delta {changes}.",
        Kind.LOCAL: f"each reward is released alone, with a loss of at most epsilon, {changes}.",
    }[notion.kind]


def known(finding: Finding) -> str:
    """Return what a finding knows of the largest loss; an audit's silence words its own bound."""
    if finding.error is not None and finding.status is Status.SILENT and not finding.bracket:
        return ""
    inside = finding.bracket or Bracket("epsilon", finding.epsilon_lower, finding.epsilon_upper)
    sign = "<=" if finding.error is None else "<"
    return bounds(inside.lower, inside.upper, finding.horizon, inside.measure, sign)


def conclusion(finding: Finding) -> str:
    """Return what a finding concludes and why."""
    return f"{known(finding)} {finding.reason}".strip()


def typeset(words: str) -> str:
    """Return text with inequalities as a page writes them."""
    together = re.sub(r"(?<=\de)-(?=\d)", "\u2011", words.replace("*(", f"*{JOINED}("))
    return together.replace("<=", "\u2264").replace(">=", "\u2265")


def text(report: Report) -> str:
    """Return a whole report as the terminal shows it."""
    from io import StringIO

    from rich.console import Console

    out = Console(file=StringIO(), width=WIDTH, highlight=False, no_color=True)
    show_claim(out, report.claim)
    for finding in report.findings:
        show_finding(out, finding)
    show_verdict(out, report, command(report.claim), None)
    shown: StringIO = out.file  # type: ignore[assignment]
    return shown.getvalue().rstrip("\n")


def command(claim: PrivacyClaim) -> str:
    """Return the command line that judges a claim."""
    words = ["python", "-m", "dpaudit", "check", claim.target, *claim.judged.words]
    words += ["--arms", str(claim.arms), "--horizon", str(claim.horizon)]
    said = {"arms": claim.arms, "horizon": claim.horizon, **claim.judged.numbers}
    for name, value in claim.parameters.items():
        if said.get(name) != value and value is not None:
            words += ["--param", f"{name}={written(value)}"]
    return shlex.join(words)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
