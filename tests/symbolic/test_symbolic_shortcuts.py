"""What the walk leaves out to be quick changes nothing: names, answers, weights stay the same."""

import itertools
import types
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.symbolic.questions import largest
from dpaudit.symbolic.roots import NameTables, Roots
from dpaudit.symbolic.run import DrawLaw, Escape, Run, active
from dpaudit.symbolic.snapshot import Copier
from dpaudit.symbolic.values import Linear, combined, public_name, wild
from dpaudit.symbolic.weights import exact

MODULE = """
import enum

TABLE = {"a": [1, 2]}
LIMIT = 3


class Kind(enum.Enum):
    ONE = 1


def closing():
    kept = [0]
    count = 0

    def inner(part=[], *, more=[]):
        nonlocal count
        count += 1
        return kept

    return inner


inner = closing()


class Policy:
    shared = []
    count = 0

    @classmethod
    def made(cls, start=[]):
        return cls()

    @property
    def size(self, cache=[]):
        return cache
"""
CHANGES = {
    "a name": "LIMIT = 4",
    "an equal object": "LIMIT = int('3000') - 2997.0",
    "a new name": "OTHER = 1",
    "a name that is gone": "del LIMIT",
    "an element": "TABLE['a'].append(1)",
    "a class attribute": "Policy.count = 1",
    "a new class attribute": "Policy.other = 1",
    "a list of a class": "Policy.shared.append(1)",
    "a method": "Policy.made = classmethod(lambda cls: 1)",
    "a default": "inner()  # counts\ninner.__defaults__[0].append(1)",
    "other defaults": "inner.__defaults__ = ([1],)",
    "a keyword's default": "inner.__kwdefaults__['more'] = [1]",
    "an element of a keyword's default": "inner.__kwdefaults__['more'].append(1)",
    "a function's attribute": "closing.seen = 1",
    "a variable of a closure": "inner()",
    "a list of a closure": "inner.__closure__[1].cell_contents.append(1)",
    "a default of a class method": "Policy.made.__func__.__defaults__[0].append(1)",
    "a default of a property": "Policy.size.fget.__defaults__[0].append(1)",
    "an attribute of an enum": "Kind.ONE.seen = 1",
    "another module's name": "beside.value = 2",
    "another module's function": "beside.function.seen = 1",
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_changes_at_module_level_is_seen(what):
    module, beside = types.ModuleType("judged"), types.ModuleType("beside")
    exec("value = 1\ndef function():\n    pass\n", vars(beside))
    exec(MODULE, vars(module))
    roots = Roots([module], [module, beside])
    assert roots.changed() == ""
    own = what in ("a name", "an equal object", "a new name", "a name that is gone")
    exec(CHANGES[what], vars(module) if own else {**vars(module), "beside": beside})
    assert roots.changed() != ""


def test_a_module_that_code_made_itself_is_not_taken_for_an_imported_one():
    module = types.ModuleType("judged")
    module.made = types.ModuleType("math")
    with pytest.raises(Escape, match="made by the code"):
        Roots([module], [module])


def test_names_of_settled_numbers_say_whether_they_may_be_wild_and_are_nobody_elses():
    given = list(itertools.product(range(4), (True, False)))
    names = [public_name(*it) for it in given]
    assert [wild(name) for name in names] == [may_be for _, may_be in given]
    assert len(set(names)) == len(names)
    assert max(names) < 0  # those of a run that goes on are positive


@pytest.mark.parametrize("kind", [set, frozenset, list, tuple])
def test_containers_of_the_same_elements_have_keys_of_their_own(kind):
    module, keys = types.ModuleType("judged"), set()
    for parts in ([[0], [1]], [[0, 1], []], [[], [0, 1]]):
        copier = Copier(Roots([module], [module]), keyed=True)
        copier([kind(part) for part in parts])
        keys.add(tuple(copier.key))
    assert len(keys) == 3


def test_whole_numbers_of_numpy_are_exact():
    odd = 2**53 + 1  # between two doubles
    assert exact(np.int64(odd)) == odd
    assert type(exact(np.int64(odd))) is type(exact(True)) is int


WEIGHT = st.sampled_from((-2, -1, 0, 1, 1, 3))
FORM = st.tuples(WEIGHT, WEIGHT, WEIGHT, WEIGHT)
QUESTION = st.one_of(
    st.tuples(st.sampled_from(("<", "<=", ">", ">=", "==")), st.integers(0, 2), st.integers(0, 2)),
    st.tuples(st.sampled_from((1, -1)), st.just(0), st.just(0)),
)
NUMBER = st.sampled_from((0.0, 0.5, 1.0, 0.25))
ASKING = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
}


def answers(values, questions):
    found = []
    for kind, i, j in questions:
        if isinstance(kind, str):
            found.append(bool(ASKING[kind](values[i], values[j])))
        else:
            found.append(largest(values, kind))
    return tuple(found)


def explored(forms, questions):
    """Return the answers of every path; the draw may tie, so no answer is left out for that."""
    found, pending = set(), [()]
    while pending:
        prefix = pending.pop()
        run = Run(prefix=prefix)
        with active(run):
            rows = [run.row(0), run.row(1)]
            draw = run.draw(DrawLaw("fixed", continuous=False))
            values = [
                Linear(
                    c,
                    {n: w for n, w in zip(rows, (a, b), strict=True) if w},
                    {draw: d} if d else {},
                )
                if a or b or d
                else float(c)
                for a, b, d, c in forms
            ]
            found.add(answers(values, questions))
        for position in range(len(prefix), len(run.trace)):
            chosen = tuple(choice for choice, _ in run.trace[:position])
            pending += [(*chosen, k) for k in range(1, run.trace[position][1])]
    return found


@given(
    st.lists(FORM, min_size=3, max_size=3),
    st.lists(QUESTION, min_size=1, max_size=4),
    st.lists(st.tuples(NUMBER, NUMBER, NUMBER), min_size=1, max_size=8),
)
@settings(max_examples=150, deadline=None)
def test_no_answer_of_concrete_numbers_is_left_out(forms, questions, points):
    found = explored(forms, questions)
    for x, y, z in points:
        numbers = [a * x + b * y + d * z + c for a, b, d, c in forms]
        assert answers(numbers, questions) in found


def test_what_was_answered_is_not_asked_again():
    run = Run()
    with active(run):
        a, b = Linear(0, {run.row(0): 1}, {}), Linear(0, {run.row(1): 1}, {})
        first = a > b
        assert len(run.trace) == 1
        assert (b * 2 < a * 2) == first and (a - b > 0) == first
        assert largest([b, a]) == 1
        assert len(run.trace) == 1


PARTS = st.dictionaries(st.integers(0, 5), st.fractions(max_denominator=7).filter(bool), max_size=6)


@given(PARTS, PARTS, st.fractions(max_denominator=5))
def test_combined_weights_are_the_sum(a, b, factor):
    names = {*a, *b}
    wanted = {n: a.get(n, 0) + factor * b.get(n, 0) for n in names}
    before = dict(a), dict(b)
    assert combined(a, b, factor) == {n: w for n, w in wanted.items() if w}
    assert (a, b) == before


def test_neighbours_that_share_a_weight_share_the_product():
    half, names = Fraction(1, 2), range(4)
    found = combined({}, dict.fromkeys(names, half), -3)
    assert found == dict.fromkeys(names, Fraction(-3, 2))
    assert all(one is other for one, other in itertools.pairwise(found.values()))


@pytest.mark.parametrize(
    "change",
    [
        lambda empty, full, kind: empty.update(b=1),
        lambda empty, full, kind: full.clear(),
        lambda empty, full, kind: full.update(a=[]),  # equal to what it was, but another
        lambda empty, full, kind: full.update(b=full.pop("a")),
        lambda empty, full, kind: setattr(kind, "second", 2),
        lambda empty, full, kind: setattr(kind, "first", 1.0),
    ],
)
def test_every_change_of_a_name_table_is_seen(change):
    empty, full, kind = {}, {"a": []}, type("Named", (), {"first": 1})
    kept = NameTables([empty, full, vars(kind)])
    assert kept.same()
    change(empty, full, kind)
    assert not kept.same()
