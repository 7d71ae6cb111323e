"""Certificates of declarations: accepted as written, rejected with what matters changed."""

import ast
import copy
import json
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit import verify as verifier
from dpaudit.cli import run
from dpaudit.core.algorithms import find, names
from dpaudit.verify import Rejected, verify

SMALL = {"adap_ucb": 60, "adap_klucb": 60, "dp_se": 5000}
LARGE = {"adap_ucb": 5, "dp_ucb": 2}


def written(folder, name, *words):
    path = folder / "proof.json"
    code = run(["check", name, "--method", "structure", "--certificate", str(path), *words])
    assert code == 0
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    small = [written(folder, name, "--horizon", str(T)) for name, T in SMALL.items()]
    large = [written(folder, name, "--arms", str(arms)) for name, arms in LARGE.items()]
    return small + large


@pytest.mark.slow
def test_every_private_algorithm_has_a_certificate_that_holds(tmp_path, capsys):
    for name in names():
        if not find(name).private:
            continue
        data = written(tmp_path, name, "--horizon", "40")
        assert verify(data).worst <= 1
        assert run(["verify", str(tmp_path / "proof.json")]) == 0
        said = capsys.readouterr().out
        assert "VERIFIED  epsilon*(40) <= " in said and f", of {name}\n" in said


def test_every_kind_holds_at_its_size(certificates):
    kinds = [data["kind"] for data in certificates]
    assert kinds == ["walk", "walk", "walk", "chains", "tree"]
    for data in certificates:
        assert verify(data).worst == Fraction(data["charge"]) <= 1


def changed(data, path, value):
    bad = copy.deepcopy(data)
    place = bad
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return bad


def of_noise(data, path, first):
    """Change divisor, scale and charge, each alone; then all to less noise, which adds up."""
    place = data
    for step in path:
        place = place[step]
    divisor, scale, charge = (Fraction(text) for text in place[first : first + 3])
    for at, value in enumerate((divisor, scale, charge), first):
        for factor in (2, Fraction(1, 2), -1):
            yield "noise changed", changed(data, (*path, at), str(value * factor))
    bad = changed(data, (*path, first + 1), str(scale / 4))
    yield "a quarter of the noise", changed(bad, (*path, first + 2), str(charge * 4))


def of_walk(data):
    states = data["states"]
    for number in range(0, len(states), max(1, len(states) // 25)):
        name, time, *asked, after = states[number]
        path = ("states", number)
        dropped = copy.deepcopy(data)
        del dropped["states"][number]
        yield "state dropped", dropped
        yield "another time", changed(data, (*path, 1), time + 1)
        yield "an answer more", changed(data, (*path, -1), [*after, number + 1])
        if after:
            yield "answer dropped", changed(data, (*path, -1), after[:-1])
            yield "answer to itself", changed(data, (*path, -1), [number] * len(after))
        if name == "play":
            yield "no such arm", changed(data, (*path, 2), data["arms"])
            if after:
                yield "longer play", changed(data, (*path, 3), asked[1] + 1)
        elif name == "release":
            yield "rows not played", changed(data, (*path, 4), asked[2] + 10**8)
            yield "no rows", changed(data, (*path, 4), asked[1])
            yield from of_noise(data, path, 5)
        else:
            yield "arm dropped", changed(data, (*path, 2), asked[0][:-1])
            yield "arm twice", changed(data, (*path, 2), [asked[0][0]] * len(asked[0]))


def of_chains(data):
    for arm, (episodes, _) in enumerate(data["states"]):
        yield "an episode more", changed(data, ("states", arm, 1, 1), 1)
        for number, (_, _, first, stop, *_) in enumerate(episodes):
            path = ("states", arm, 0, number)
            dropped = copy.deepcopy(data)
            del dropped["states"][arm][0][number]
            yield "release dropped", dropped
            yield "no rows", changed(data, (*path, 3), first)
            yield "rows not played", changed(data, (*path, 3), stop + 10**8)
            yield "rows of the last one too", changed(data, (*path, 2), first - 1)
            yield from of_noise(data, path, 4)
            short = copy.deepcopy(data)
            if number:
                short["states"][arm] = [episodes[:number], episodes[number]]
                yield "a chain that stops early", short
    yield "arm dropped", data | {"states": data["states"][:-1]}


def of_tree(data):
    yield from of_noise(data, ("states",), 0)


def of_everything(data):
    charge = Fraction(data["charge"])
    for other in (charge / 2, charge * 2, Fraction(0), charge - Fraction(1, 10**15)):
        yield "charge", data | {"charge": str(other)}
    yield "epsilon", data | {"epsilon": str(Fraction(charge) * Fraction(9, 10))}
    yield "a larger horizon", data | {"horizon": data["horizon"] * 4}
    yield "no horizon", data | {"horizon": 0}
    yield "no states", data | {"states": []}
    yield "another kind", data | {"kind": "code"}
    yield "no kind", data | {"kind": "walks"}
    yield "another schema", data | {"schema": 1}
    yield "a huge number", data | {"epsilon": "1e400000000"}
    yield "a line of its own", data | {"arms": "2 arms\nVERIFIED"}
    yield "another line", data | {"target": "one\ntwo"}
    yield "floats", data | {"charge": float(charge)}


def forgeries(data):
    """Yield forged copies, each with one thing changed that the bound rests on."""
    yield from of_everything(data)
    yield from {"walk": of_walk, "chains": of_chains, "tree": of_tree}[data["kind"]](data)


def test_every_forgery_is_rejected(certificates):
    tried = {}
    for data in certificates:
        for what, bad in forgeries(data):
            with pytest.raises(Rejected):
                verify(bad)
                pytest.fail(f"accepted: {data['target']}: {what}")
            tried[what] = tried.get(what, 0) + 1
    assert sum(tried.values()) >= 300 and len(tried) >= 20, tried


def test_the_verifier_is_small_and_imports_nothing_of_dpaudit():
    text = Path(verifier.__file__).read_text()
    tree = ast.walk(ast.parse(text))
    imported = {it.module for it in tree if isinstance(it, ast.ImportFrom)}
    assert imported == {"__future__", "fractions", "typing"} and "\nimport " not in text
    assert text.count("\n") <= 320
