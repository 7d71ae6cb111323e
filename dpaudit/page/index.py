"""The index over all judged algorithms, and the page of the proof ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit import __version__
from dpaudit.claims.claim import OUTCOMES, REFUTED, RESTRICTED, UNRESOLVED, Result
from dpaudit.claims.ledger import theorems
from dpaudit.claims.theorem import STANDINGS, leaves_of, standing
from dpaudit.core.arithmetic import at_least, at_most
from dpaudit.core.notions import Kind, Notion
from dpaudit.judging import Report
from dpaudit.options import ALL_METHODS as METHODS
from dpaudit.page.algorithm import badge
from dpaudit.page.gallery import GallerySubject
from dpaudit.page.markup import Markup, document, join, tag
from dpaudit.page.style import sorting, style
from dpaudit.page.tables import Number, table
from dpaudit.report import typeset
from dpaudit.verdict import Status

LEDGER = "ledger.html"
DIGITS = 6
ORDER = (Status.REFUTED, Status.PROVED, Status.HOLDS, Status.SILENT)
FAULTS = (REFUTED, RESTRICTED, UNRESOLVED)
MEANINGS = {
    Status.PROVED: "every transcript up to the stated horizon respects epsilon",
    Status.HOLDS: "every action sequence and every pair respects epsilon, at this size",
    Status.REFUTED: "violated, with a witness or at a stated error probability",
    Status.SILENT: "nothing concluded; the page says why",
}


@dataclass(frozen=True)
class IndexRow:
    """A judged subject: its report, or why there is none."""

    subject: GallerySubject
    report: Report | None
    why_not: str = ""


def index(rows: Sequence[IndexRow], waiting: int, ledger: Mapping[str, int] | None) -> str:
    """Return the index; `waiting` subjects are not judged yet."""
    counts = [
        (
            badge(status),
            sum(row.report is not None and row.report.verdict is status for row in rows),
            words,
        )
        for status, words in MEANINGS.items()
    ]
    note = f"{waiting} more were not judged: the run was cut short." if waiting else None
    body = tag(
        "main",
        tag("h1", "Do they have the privacy they claim?"),
        tag(
            "p",
            f"{len(rows)} bandit algorithms and known-wrong variants, each judged by up to "
            "three checks. A click on a heading sorts the table.",
            class_="lead",
        ),
        tag("p", note) if note else None,
        table("What the verdicts mean", ("verdict", "algorithms", "meaning"), counts),
        tag("h2", "Algorithms"),
        table(
            "proved or certified bounds, rounded outward, at the claimed horizon, on epsilon or on "
            "what is claimed in its place; what an audit found by sampling is on its page",
            (
                "algorithm",
                "verdict",
                "kind",
                "judged at",
                "at least",
                "at most",
                *METHODS,
                "what it is",
            ),
            [_row(row) for row in rows],
            "sortable",
        ),
        tag("h2", "The paper's proofs"),
        _ledger_words(ledger),
        tag("footer", f"dpaudit {__version__}"),
        class_="broad",
    )
    return document("dpaudit: all algorithms", style(), body, sorting())


def _row(row: IndexRow) -> list[object]:
    subject, report = row.subject, row.report
    if report is None:
        nothing = Number("", float("-inf"))
        blank: list[object] = [nothing] * 3 + [""] * len(METHODS)
        return [subject.name, "not judged", subject.kind, *blank, row.why_not]
    claim, inside = report.claim, report.bracket
    return [
        tag("a", subject.name, href=f"{subject.name}.html"),
        badge(report.verdict),
        subject.kind,
        claim.epsilon
        if claim.notion is None
        else Number(_stated(claim.notion), claim.notion.level),
        _end(at_least(inside.lower, DIGITS), inside.lower),
        _end(at_most(inside.upper, DIGITS), inside.upper),
        *(_best(report, name) for name in METHODS),
        subject.flaw or subject.title,
    ]


def _stated(notion: Notion) -> str:
    """Return a claim that is not pure epsilon as a cell has room for."""
    return f"{notion.level:g}, local" if notion.kind is Kind.LOCAL else str(notion)


def _end(shown: str, value: float) -> Number:
    whole = f"{int(shown):,}" if shown.isdigit() else shown
    return Number(whole.replace("inf", "\u221e"), value)


def _best(report: Report, method: str) -> str:
    """Return the strongest word of a check's findings."""
    said = [finding.status for finding in report.findings if finding.check == method]
    return next((str(status) for status in ORDER if status in said), "")


def _ledger_words(counts: Mapping[str, int] | None) -> Markup:
    if counts is None:
        return tag("p", "The ledger was not checked in this run.")
    parts = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
    return tag(
        "p",
        f"Every step of the derivations and of what dpaudit rests on: {parts}. ",
        tag("a", "The ledger with the errata", href=LEDGER),
    )


def ledger_page(steps: Sequence[Mapping[str, Any]], results: dict[str, Result]) -> str:
    """Return the page of the ledger: what is false in the paper first, then every step."""
    counts = [
        (kind, sum(step["outcome"] == kind for step in steps), words)
        for kind, words in OUTCOMES.items()
    ]
    body = tag(
        "main",
        tag("nav", tag("a", "All algorithms", href="index.html")),
        tag("h1", "The proof ledger"),
        tag(
            "p",
            "The derivations of Azize and Basu (2022) and those that dpaudit itself rests on, step "
            "by step. Counterexamples are confirmed in exact or ball arithmetic.",
            class_="lead",
        ),
        table("Outcomes", ("outcome", "steps", "meaning"), counts),
        _theorems(steps, results),
        tag("h2", "Errata"),
        [_errata(result, steps) for result in results.values() if result.in_paper],
        tag("h2", "Every step"),
        table(
            "A click on a heading sorts the table",
            ("result", "step", "place", "outcome", "statement", "domain", "how"),
            [
                [
                    typeset(str(step[name]))
                    for name in ("result", "step", "place", "outcome", "statement", "domain", "how")
                ]
                for step in steps
            ],
            "sortable",
        ),
        tag("footer", f"dpaudit {__version__}"),
        class_="broad",
    )
    return document("dpaudit: the proof ledger", style(), body, sorting())


def _theorems(steps: Sequence[Mapping[str, Any]], results: dict[str, Result]) -> Markup:
    """Return the theorems that rest on these steps alone, each with its standing."""
    outcomes, known = {step["step"]: step["outcome"] for step in steps}, theorems(results)
    rows = []
    for one in known.values():
        if outcomes.keys() >= set(leaves_of(one, known)):
            found = standing(one, known, outcomes)
            words = one.name, one.form, found.kind, ", ".join(found.leaves), one.statement
            rows.append([typeset(word) for word in words])
    heads = ("theorem", "form", "standing", "because of", "statement")
    return join(
        tag("h2", "Theorems"),
        table("Each is as good as the worst step below it", heads, rows, "sortable"),
        table("Standings", ("standing", "meaning"), list(STANDINGS.items())),
    )


def _errata(result: Result, steps: Sequence[Mapping[str, Any]]) -> Markup | None:
    """Return the faults of one result; nothing where there are none."""
    faults = [s for s in steps if s["result"] == result.name and s["outcome"] in FAULTS]
    if not faults and not result.misprints:
        return None
    return join(
        tag("h3", result.title),
        tag("p", f"{result.place}. {result.verdict}"),
        [_fault(step) for step in faults],
        tag("ul", [tag("li", f"Misprint: {words}") for words in result.misprints])
        if result.misprints
        else None,
    )


def _fault(step: Mapping[str, Any]) -> Markup:
    facts = [
        ("domain", step["boundary"]),
        ("counterexample", step["counterexample"]),
        ("correction", step["correction"]),
        ("consequence", step["survives"]),
    ]
    replay = f"python -m dpaudit prove --counterexample {step['step']}"
    return tag(
        "details",
        tag("summary", f"{step['step']}: {step['outcome']}"),
        tag("p", tag("em", f"{step['place']}. "), step["statement"]),
        tag(
            "dl",
            [(tag("dt", name), tag("dd", typeset(words))) for name, words in facts if words],
            class_="facts",
        ),
        tag("pre", replay),
    )
