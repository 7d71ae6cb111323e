"""JUnit XML: one test case per claim; valid under the schema that Jenkins publishes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from dpaudit.formats.result import ClaimResult
from dpaudit.message import summary

# XML 1.0 has no way to write other control characters, not even escaped.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(results: Sequence[ClaimResult], properties: Mapping[str, str]) -> str:
    """Return the document: a claim that cannot be judged is an error, the rest are failures."""
    failures = sum(bool(it.problems) and it.judged for it in results)
    errors = sum(bool(it.problems) and not it.judged for it in results)
    seconds = sum(it.seconds for it in results)
    suite = ElementTree.Element(
        "testsuite",
        name="dpaudit",
        tests=str(len(results)),
        failures=str(failures),
        errors=str(errors),
        skipped="0",
        time=f"{seconds:.3f}",
    )
    described = ElementTree.SubElement(suite, "properties")
    for name, value in properties.items():
        ElementTree.SubElement(described, "property", name=_text(name), value=_text(value))
    for result in results:
        suite.append(_case(result))
    top = ElementTree.Element("testsuites")
    top.append(suite)
    ElementTree.indent(top)
    body = ElementTree.tostring(top, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _case(result: ClaimResult) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase",
        classname=f"dpaudit.{_text(result.target)}",
        name=_text(result.claim),
        time=f"{result.seconds:.3f}",
    )
    kind = "failure" if result.judged else "error"
    for number, problem in enumerate(result.problems):
        named = f"{problem.rule.id} {problem.rule.label}"
        found = ElementTree.SubElement(
            case, kind, type=named, message=_text(f"{result.claim}: {problem.message}")
        )
        found.text = _text(result.details) if number == 0 else ""
    out = ElementTree.SubElement(case, "system-out")
    line = summary(result.report, result.claim) if result.report else result.verdict
    out.text = _text("\n".join([line, *result.notes]))
    return case


def _text(text: str) -> str:
    return UNWRITABLE.sub("?", text)
