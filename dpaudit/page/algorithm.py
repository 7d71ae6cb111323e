"""The page of one algorithm: the claim, the verdict, the evidence, how to replay it.

Everything on the page comes from the report, so a page can be made from its JSON alone. A part
that the report does not carry is left out and named.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from dpaudit import __version__
from dpaudit.core.arithmetic import at_least
from dpaudit.errors import InvalidArgument
from dpaudit.judging import Report
from dpaudit.output import PAGE, plain, require_writable, write_text
from dpaudit.page import figures
from dpaudit.page.bracket import bracket
from dpaudit.page.markup import Markup, document, join, tag
from dpaudit.page.style import style
from dpaudit.page.tables import folded, of_witness, streams, table
from dpaudit.particulars import Details
from dpaudit.replay import line
from dpaudit.report import also, command, in_doubles, known, meaning, typeset
from dpaudit.report import left_out as summed
from dpaudit.verdict import Finding, Status

ROUNDING = (
    "Rounding: noise is a real number in the model; floating-point samplers leak through their low "
    "bits."
)
NOT_COVERED = (
    "Timing, crashes, memory and every other channel but the actions.",
    "Code that runs something else than the declaration.",
    "Rewards outside [0, 1], and streams that differ in more than one reward.",
)
PARTS = {
    "losses": "Loss against the horizon",
    "profile": "Privacy profile and trade-off curve",
    "positions": "Loss by position",
    "regret": "Regret",
    "evidence": "The audit's evidence",
}


def left_out(report: Report) -> list[str]:
    """Return what no check covers; with a proof of the program that runs, what that says."""
    program = next((it.program for it in report.findings if it.program is not None), None)
    if report.code:
        words = summed(report)
        doubles = [] if program is None else [in_doubles(program)]
        return [*doubles, f"{words[:1].upper()}{words[1:]}."]
    return [ROUNDING if program is None else in_doubles(program), *NOT_COVERED]


def require_page(destination: str) -> None:
    """Raise now rather than after the work if a page cannot be written there."""
    if destination == "-":
        raise InvalidArgument("file", "-", "is standard output; a page needs a file.")
    require_writable(destination, PAGE)


def write(report: Report, destination: str, home: str | None = None) -> None:
    """Write the page of a report; `home` is the index that it links back to."""
    write_text(Path(destination), page(report, home), PAGE)


def page(report: Report, home: str | None = None) -> str:
    """Return the page of a report."""
    claim, details = report.claim, report.details or Details()
    inside = report.bracket
    drawn = _drawn(report, details)
    up = tag("nav", tag("a", "All algorithms", href=home)) if home else None
    body = tag(
        "main",
        up,
        tag("header", _headline(report, details)),
        tag("h2", f"What is known of {inside.measure}"),
        tag(
            "figure",
            bracket(
                inside.lower,
                inside.upper,
                claim.judged.bound,
                likely(report)[0] if claim.notion is None else 0.0,
                inside.measure,
            ),
            tag("figcaption", _bracket_words(report)),
            class_="wide",
        ),
        tag("h2", "How we know"),
        _findings(report.findings),
        _witness(report, details),
        join(tag("h2", "In figures"), tag("div", drawn, class_="figures")) if drawn else None,
        _missing(report, details),
        tag("h2", "Replay it"),
        _replay(report, details),
        tag("h2", "What is not covered"),
        tag("ul", [tag("li", text) for text in left_out(report)]),
        tag("footer", f"dpaudit {__version__}"),
    )
    return document(f"{claim.algorithm}: {report.verdict}", style(), body)


def badge(status: Status) -> Markup:
    """Return a verdict as a coloured word."""
    return tag("span", status, class_=f"verdict {status}")


def _headline(report: Report, details: Details) -> Markup:
    claim = report.claim
    verb = "claims" if claim.own else "is judged against"
    known = ("arms", "horizon", *claim.judged.numbers)
    others = [f"{name} = {value}" for name, value in claim.parameters.items() if name not in known]
    facts = [
        ("claim", f"{claim.algorithm} {verb} {claim.judged}, {claim.judged.kind.described}"),
        ("neighbours", f"streams that differ in {claim.neighbours}"),
        ("instance", ", ".join([f"{claim.arms} arms", *others])),
        ("horizon", f"{claim.horizon:,} rounds, {'anytime' if claim.anytime else 'known ahead'}"),
    ]
    if report.implies:
        facts.append(("implies", typeset(also(report))))
    if details.flaw:
        facts.insert(0, ("known flaw", details.flaw))
    if details.version:
        judged = f"{details.date} by dpaudit {details.version}, seed {details.seed}"
        facts.append(("judged", judged))
        facts.append(("source", f"SHA-256 {details.digest}"))
    return join(
        tag("h1", claim.algorithm),
        tag("p", typeset(details.about)) if details.about else None,
        tag("p", badge(report.verdict), " ", sentence(report), class_="lead"),
        tag("p", "Interrupted: some checks are missing.") if report.interrupted else None,
        tag("dl", [(tag("dt", name), tag("dd", text)) for name, text in facts], class_="facts"),
    )


def sentence(report: Report) -> str:
    """Return the verdict in one or two sentences, beginning with a capital letter."""
    words = typeset(meaning(report))
    return words if report.verdict is Status.REFUTED else f"{words[:1].upper()}{words[1:]}"


def _bracket_words(report: Report) -> str:
    inside = report.bracket
    size = f"{inside.measure}*({report.claim.horizon:,})"
    if report.claim.notion is not None:
        return f"Filled: where the smallest {inside.measure} that holds, {size}, can lie."
    ends = [f"Filled: where the largest loss, {size}, can lie."]
    if report.lower > 0:
        kind = "certified" if report.certain else "floating point"
        drawn = all(finding.epsilon_lower < report.lower for finding in report.findings)
        ends.append(f"Lower end: {kind}{', from the loss against the horizon' * drawn}.")
    sampled, error = likely(report)
    if sampled > 0:
        bound = f"epsilon > {at_least(sampled, 4)}"
        ends.append(f"The ring: {bound}, wrong with probability at most {error:g}.")
    return " ".join(ends)


def likely(report: Report) -> tuple[float, float]:
    """Return the best lower bound that has an error probability, and that probability.

    What fewer rounds of the claimed instance show, all of them contain.
    """
    usable = [
        (it.epsilon_lower, it.error)
        for it in report.findings
        if it.error is not None and it.instance is None and it.horizon <= report.claim.horizon
    ]
    return max(usable, default=(0.0, 0.0))


def _findings(findings: tuple[Finding, ...]) -> Markup:
    rows = [
        (
            finding.check,
            badge(finding.status),
            join(
                tag("strong", _known(finding)),
                " " if _known(finding) else "",
                typeset(finding.reason),
                _error(finding),
            ),
        )
        for finding in findings
    ]
    heads = ("check", "concludes", "why, and how far")
    return table("One line per check", heads, rows, kind="stack")


def _error(finding: Finding) -> str:
    """Return the error probability; the reason of a refutation names it already."""
    if finding.error is None or finding.status is Status.REFUTED:
        return ""
    return f" Error probability at most {finding.error:g}."


def _known(finding: Finding) -> str:
    return typeset(known(finding))


def _witness(report: Report, details: Details) -> Markup | None:
    found = next((f.witness for f in report.findings if f.witness is not None), None)
    if found is not None:
        words = (
            f"Two streams that differ in the reward of round {found.position + 1}, and the actions "
            "whose likelihood on them differs by more than a factor e^epsilon. The changed reward "
            "is the highlighted column."
        )
        return join(tag("h2", "The witness"), tag("p", words), of_witness(found))
    pair = details.profile
    if pair is None:
        return None
    words = (
        f"The exact check brought no witness. The worst pair found of {len(pair.stream):,} rounds "
        f"attains a loss of {pair.loss:.6g} with these actions; the changed reward is the "
        "highlighted column."
    )
    longer = [f for f in report.findings if f.check == "exact" and f.epsilon_lower > pair.loss]
    if any(f.horizon > len(pair.stream) for f in longer):
        words += " Longer runs lose more, as the figure shows."
    rows = streams(pair.actions, pair.stream, pair.neighbour)
    return join(tag("h2", "The worst pair"), tag("p", words), rows)


def _drawn(report: Report, details: Details) -> list[Markup]:
    if report.claim.notion is not None:
        return []  # the figures are of pure losses
    claimed = report.claim.epsilon
    sampled = next((f for f in report.findings if f.courses), None)
    found = [
        figures.losses(report, details),
        figures.positions(details.positions, claimed) if details.positions else None,
        figures.profile(details.profile, claimed) if details.profile else None,
        figures.trade_off(details.profile, claimed) if details.profile else None,
        figures.evidence(sampled, claimed) if sampled else None,
        figures.regret(details.regret) if details.regret else None,
    ]
    return [one for one in found if one is not None]


def _missing(report: Report, details: Details) -> Markup | None:
    if report.details is None:
        words = "The report holds no details; `check --details --json FILE` computes them."
        return tag("p", words, class_="soft")
    reasons = dict(details.missing)
    endless = [one.horizon for one in details.losses if one.lower == math.inf]
    if endless:
        reasons["losses"] = f"the loss is infinite from T = {endless[0]:,} on."
    sampled = [f for f in report.findings if f.check == "sample"]
    if sampled and not any(len(course.rounds) > 1 for f in sampled for course in f.courses):
        reasons["evidence"] = "the audit made no fresh runs within its budget."
    if not reasons:
        return None
    notes = [tag("li", f"{PARTS.get(name, name)}: {why}") for name, why in reasons.items()]
    return folded("What the figures leave out, and why", tag("ul", notes))


def _replay(report: Report, details: Details) -> Markup:
    found = next((f.witness for f in report.findings if f.witness is not None), None)
    parts = [tag("pre", details.command or command(report.claim))]
    if found is not None:
        saved = json.dumps(plain(found), indent=1)
        parts += [
            tag("p", "The same with --witness witness.json saves the counterexample; then"),
            tag("pre", line("witness.json", report.claim)),
            folded("witness.json", tag("pre", saved)),
        ]
    return join(parts)
