"""Pages from reports: what they show, that they need the JSON alone, that text stays text."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpaudit.cli import run
from dpaudit.judging import Report, as_json
from dpaudit.output import plain, write_json
from dpaudit.page.algorithm import page
from dpaudit.page.bracket import words
from dpaudit.page.chart import LinearScale, Logarithmic, short
from dpaudit.page.markup import document, tag, text
from dpaudit.page.read import read
from dpaudit.particulars import Details
from dpaudit.verdict import Finding, Status

VOID = {"meta", "link", "br", "col"}


class Outline(HTMLParser):
    """The elements and texts of a page; fails on elements that are not closed in order."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.words.append(data)

    def find(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.elements if found == name]


def test_page_says_what_the_report_says(proved):
    source = page(proved)
    outline = Outline(source)
    shown = " ".join(outline.words)
    assert proved.verdict is Status.PROVED
    assert "No action sequence, however long, changes its likelihood" in shown
    assert "adap_ucb claims epsilon = 1, pure global DP" in shown
    for finding in proved.findings:
        assert finding.reason.replace("<=", "\u2264").replace(">=", "\u2265") in shown
    for part in (
        "What is known of epsilon", "Loss against the horizon", "Which reward leaked most",
        "Privacy profile", "Trade-off curve", "The audit's evidence", "Regret with its bounds",
        "The worst pair", "Replay it", "What is not covered",
    ):  # fmt: skip
        assert part in shown, part


def test_a_horizon_has_one_row_and_it_is_what_the_check_said(proved):
    """A page said "binary" and no upper end of a horizon that held for all of [0,1]^T."""
    everything = "every action sequence and every pair of streams in [0,1]^T of length T"
    [exact] = [it for it in proved.findings if it.check == "exact"]
    looked = [one for one in proved.details.losses if one.horizon in (3, 4)]
    assert len(looked) == 2 and all("binary" in one.covers for one in looked)
    at = {"horizon": 3, "epsilon_lower": 0.0, "epsilon_upper": 1e-7, "streams": everything}
    floating = {"status": Status.SILENT, "certified": False, "epsilon_upper": math.inf}
    for changes, height in ((at, "0.4"), ({**at, **floating, "epsilon_lower": 0.99}, "0.99")):
        changed = replace(proved, findings=(replace(exact, **changes),))
        source = page(replace(changed, details=replace(proved.details, losses=tuple(looked))))
        table = source.partition("<caption>epsilon*(T)</caption>")[2].partition("</table>")[0]
        rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in table.split("<tr>")]
        rows = [row for row in rows if row and row[0] in ("3", "4")]
        assert [(row[0], "[0,1]^T" in row[-1]) for row in rows] == [("3", True), ("4", False)]
        assert re.search(rf"\(the values say which\); {height}\d* up to T = 4", source)


def test_the_worst_pair_is_that_of_its_rounds(proved):
    """A page called a pair of three rounds the worst that was seen beside a larger loss."""
    assert "The worst pair found of 5 rounds attains" in page(proved)
    assert "Longer runs lose more" not in page(proved)
    exact = next(it for it in proved.findings if it.check == "exact")
    longer = replace(exact, horizon=8, epsilon_lower=0.9, epsilon_upper=1.0)
    assert "Longer runs lose more" in page(replace(proved, findings=(longer,)))


def test_refuted_page_shows_the_witness(refuted):
    shown = " ".join(Outline(page(refuted)).words)
    witness = next(f.witness for f in refuted.findings if f.witness)
    assert refuted.verdict is Status.REFUTED and "does not have epsilon = 1" in shown
    assert f"differ in the reward of round {witness.position + 1}" in shown
    source = page(refuted)
    [table] = re.findall(r'<table class="streams">.*?</table>', source, re.S)
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    assert cells[1] == [str(arm) for arm in witness.actions]
    assert [float(cell) for cell in cells[2]] == list(witness.stream)
    assert [float(cell) for cell in cells[3]] == list(witness.neighbour)
    marked = [i for i, td in enumerate(re.findall(r"<td[^>]*>", rows[2])) if "changed" in td]
    assert marked == [witness.position]
    saved = re.search(r"witness.json</summary><pre>(.*?)</pre>", source, re.S)
    from html import unescape

    assert json.loads(unescape(saved.group(1)))["actions"] == list(witness.actions)


@pytest.mark.parametrize("which", ["proved", "refuted"])
def test_pages_are_self_contained_and_accessible(which, request):
    outline = Outline(page(request.getfixturevalue(which)))
    assert not outline.find("script") and not outline.find("img") and not outline.find("iframe")
    assert [a["href"] for a in outline.find("link")] == ["data:,"]
    assert not any("style" in attributes for _, attributes in outline.elements)
    assert not any(k.startswith("on") for _, attributes in outline.elements for k in attributes)
    [policy] = [a["content"] for a in outline.find("meta") if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'")
    ids = [a["id"] for _, a in outline.elements if "id" in a]
    assert len(ids) == len(set(ids))
    pictures = [a for a in outline.find("svg") if a.get("aria-hidden") != "true"]
    assert len(pictures) >= 7
    for attributes in pictures:
        assert attributes["role"] == "img"
        assert set(attributes["aria-labelledby"].split()) <= set(ids)
    assert len(outline.find("figure")) == len(pictures)
    assert len(outline.find("table")) >= len(pictures)


def test_pictures_are_well_formed(proved):
    for source in re.findall(r"<svg.*?</svg>", page(proved), re.S):
        drawn = ElementTree.fromstring(source)
        assert drawn.get("viewBox")
        numbers = re.findall(r' (?:[xy][12]?|c[xy]|points|width|height)="([^"]*)"', source)
        for value in " ".join(numbers).replace(",", " ").split():
            assert -60 <= float(value) <= 500


def test_page_needs_the_json_alone(proved, tmp_path):
    write_json(as_json(proved), str(tmp_path / "run.json"))
    assert page(read(tmp_path / "run.json")) == page(proved)
    assert run(["report", str(tmp_path / "run.json"), "-o", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text() == page(proved)


def test_infinite_losses_survive_the_json(refuted, tmp_path):
    assert any(f.epsilon_upper == float("inf") for f in refuted.findings)
    write_json(as_json(refuted), str(tmp_path / "run.json"))
    assert read(tmp_path / "run.json") == refuted


def test_report_without_details_has_fewer_figures(proved, tmp_path):
    plain = replace(proved, details=None)
    write_json(as_json(plain), str(tmp_path / "run.json"))
    data = json.loads((tmp_path / "run.json").read_text())
    assert "details" not in data
    for finding in data["findings"]:  # as versions before this one wrote them
        del finding["courses"]
    del data["schema"]
    (tmp_path / "run.json").write_text(json.dumps(data))
    shown = " ".join(Outline(page(read(tmp_path / "run.json"))).words)
    assert "holds no details" in shown and "Trade-off" not in shown


def test_hostile_text_stays_text(hostile, tmp_path):
    source = page(hostile)
    outline = Outline(source)
    assert not outline.find("script") and "<script" not in source
    assert "alert(1)" in " ".join(outline.words)
    assert source.count("</style>") == 1
    assert "\x00" not in source and "\u202e" not in source
    write_json(as_json(hostile), str(tmp_path / "run.json"))
    assert page(read(tmp_path / "run.json")) == source


@settings(max_examples=40)
@given(st.text(), st.text())
def test_any_text_is_escaped(inside, attribute):
    source = tag("p", inside, title=attribute)
    [(name, attributes)] = Outline(source).elements
    assert name == "p" and list(attributes) == ["title"]
    assert "<" not in text(inside) and '"' not in text(attribute)
    document("t", "", source).encode()


WHOLE = {
    "schema": 1,
    "verdict": "SILENT",
    "claim": {
        "target": "t", "algorithm": "t", "parameters": {}, "epsilon": 1.0, "arms": 2,
        "horizon": 10, "anytime": True, "neighbours": "one reward", "own": True,
    },
    "findings": [],
}  # fmt: skip


def changed(**parts: object) -> str:
    return json.dumps({**WHOLE, **parts})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is not JSON"),
        (changed()[:-20], "is not JSON"),
        ("\ufeff\x00", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not a report of `check --json`."),
        ('{"verdict": "PROVED"}', "is not a report of `check --json`."),
        ('{"stream": [], "neighbour": []}', "`replay` recomputes it"),
        ('{"hypotheses": [], "status": "SILENT"}', "is a report of `audit`"),
        (changed(schema=2), "schema 2; this version reads schema 1"),
        (changed(schema="<b>"), "this version reads schema 1"),
        (changed(verdict="PRIVATE"), "is not a report of `check`"),
        (changed(verdict="PROVED"), "says PROVED, which none of its findings concludes"),
        (changed(claim={}), "is not a report of `check`"),
        (changed(claim={**WHOLE["claim"], "epsilon": 0}), "epsilon must be positive"),
        (changed(claim={**WHOLE["claim"], "epsilon": "nan"}), "it holds a nan"),
        (changed(findings=[1]), "is not a report of `check`"),
        (changed(findings="SILENT"), "is not a report of `check`"),
        (changed(details={"losses": [{}]}), "is not a report of `check`"),
        (changed(details={"positions": {"losses": [], "covers": ""}}), "no loss by position"),
    ],
)
def test_other_files_cost_one_line(content, says, tmp_path, capsys):
    file = tmp_path / "run.json"
    file.write_text(content)
    assert run(["report", str(file), "-o", str(tmp_path / "page.html")]) == 2
    captured = capsys.readouterr()
    assert says in captured.err and captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    assert not (tmp_path / "page.html").exists()


def leaves(data, place=()):
    """Yield the place of every value in a JSON tree."""
    inner = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in inner:
        yield (*place, key)
        if isinstance(value, dict | list) and value:
            yield from leaves(value, (*place, key))


ODD = [None, "", "x", "inf", "-inf", "nan", -1, 0, 0.5, 2**70, 1e308, -1e-300, True, [], {}, [[]]]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_change_of_a_report_gives_a_page_or_one_line(proved, refuted, tmp_path, capsys, data):
    """Half of a valid report is the worst kind of input."""
    whole = json.loads(json.dumps(plain(as_json(data.draw(st.sampled_from([proved, refuted]))))))
    places = list(leaves(whole))
    for _ in range(data.draw(st.integers(1, 2))):
        *way, last = data.draw(st.sampled_from(places))
        holder = whole
        try:
            for key in way:
                holder = holder[key]
            holder[last] = data.draw(st.sampled_from(ODD))
        except (KeyError, IndexError, TypeError):
            continue
    (tmp_path / "run.json").write_text(json.dumps(whole))
    code = run(["report", str(tmp_path / "run.json"), "-o", str(tmp_path / "page.html")])
    err = capsys.readouterr().err
    assert (code, err) == (0, "") or (code == 2 and err.count("\n") == 1)
    if code == 0:
        Outline((tmp_path / "page.html").read_text())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "TARGET=(missing) is required, or --all."),
        (["nothing.json"], "cannot be read: No such file or directory."),
        (["run.json", "--all"], "cannot be combined with --all."),
        (["--all"], "output=(missing) is required with --all"),
        (["--all", "-o", "x", "--only", "adap_klcub"], "Did you mean 'adap_klucb'?"),
        (["--all", "-o", "x", "--budget", "0"], "budget=0.0 must be positive."),
        (["--all", "-o", "x", "--epsilon", "2"], "epsilon=2 is for one TARGET that is judged now."),
        (["run.json", "--param", "alpha=2"], "is for one TARGET that is judged now."),
        (["--all", "-o", "x", "--ledger", "nothing.json"], "ledger=nothing.json cannot be read"),
    ],
)
def test_bad_arguments_cost_one_line(arguments, says, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["report", *arguments]) == 2
    captured = capsys.readouterr()
    assert says in captured.err and captured.err.count("\n") == 1


QUICK = ["check", "ucb", "--method", "exact", "--exact-horizon", "3", "--budget", "2"]


def test_check_writes_the_page_that_report_makes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run([*QUICK, "--html", "page.html", "--json", "run.json"]) == 1
    assert run(["report", "run.json"]) == 0
    assert Path("page.html").read_bytes() == Path("report.html").read_bytes()
    assert "REFUTED" in Path("page.html").read_text()


def test_ctrl_c_during_the_details_keeps_the_verdict(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpaudit.details.compute.details", stop)
    assert run([*QUICK, "--html", "page.html", "--json", "run.json"]) == 130
    assert json.loads(Path("run.json").read_text())["verdict"] == "REFUTED"
    assert "Interrupted: some checks are missing." in Path("page.html").read_text()


def test_plain_check_computes_no_details(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpaudit.details.compute.details", None)
    assert run([*QUICK, "--json", "run.json"]) == 1
    assert "details" not in json.loads(Path("run.json").read_text())


@pytest.mark.parametrize("place", ["-", "no/page.html"])
def test_a_page_needs_a_file(place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run([*QUICK, "--html", place]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and "REFUTED" not in captured.out


def test_bounds_with_an_error_probability_are_a_ring(refuted):
    claim = replace(refuted.claim, horizon=16, anytime=False)
    finding = Finding("sample", Status.REFUTED, "Seen.", 1.25, horizon=16, error=1e-6)
    source = page(Report(Status.REFUTED, claim, (finding,)))
    assert "The ring: epsilon &gt; 1.25, wrong with probability at most 1e-06." in source
    assert "0 \u2264 epsilon (no upper bound)" in source and 'class="likely"' in source
    assert "epsilon &gt; 1.25, by sampling" in source
    longer = replace(claim, horizon=99)  # which contains the first 16 rounds
    assert "The ring" in page(Report(Status.REFUTED, longer, (finding,)))
    other = page(Report(Status.REFUTED, longer, (replace(finding, instance=16),)))
    assert "The ring" not in other  # the instance of another horizon is another algorithm


def test_a_missing_directory_costs_one_line(tmp_path, capsys):
    (tmp_path / "run.json").write_text(changed())
    page = str(tmp_path / "no" / "page.html")
    assert run(["report", str(tmp_path / "run.json"), "-o", page]) == 2
    assert "its directory does not exist" in capsys.readouterr().err


def test_smallest_report_has_a_page(tmp_path):
    claim = {**WHOLE["claim"], "algorithm": "Nan"}
    (tmp_path / "run.json").write_text(changed(claim=claim))
    shown = " ".join(Outline(page(read(tmp_path / "run.json"))).words)
    assert "Undecided" in shown and "0 \u2264 epsilon (no upper bound)" in shown


def test_bracket_words_are_rounded_outward():
    assert words(0.12345678901234, 0.98765432109876) == (
        "0.123456789012 \u2264 epsilon \u2264 0.987654321099"
    )
    assert words(float("inf"), float("inf")) == "epsilon is infinite"


@settings(max_examples=40)
@given(st.floats(1e-6, 1e6), st.floats(1.001, 1e6))
def test_ticks_lie_within_their_axis(low, factor):
    for scale in (LinearScale(low, low * factor, ""), Logarithmic(low, low * factor, "")):
        ticks = scale.ticks()
        assert len(ticks) <= 8
        assert all(-1e-6 <= scale.part(tick) <= 1 + 1e-6 for tick in ticks)


def test_short_numbers():
    shown = [short(v) for v in (0.0, 1.0, 12345.0, 1e7, 0.5, 1e-6, float("inf"), -0.25)]
    assert shown == ["0", "1", "12,345", "1e7", "0.5", "1e-6", "infinity", "-0.25"]


def test_details_are_optional_in_a_report():
    claim = read_claim()
    report = Report(Status.SILENT, claim, (Finding("exact", Status.SILENT, "Nothing."),))
    assert "details" not in as_json(report)
    assert as_json(replace(report, details=Details()))["details"] == Details()


def read_claim():
    import msgspec

    from dpaudit.judging import PrivacyClaim

    return msgspec.convert(WHOLE["claim"], PrivacyClaim)
