"""The integer samplers draw exactly what they say: their Markov chains, solved."""

from __future__ import annotations

import inspect
import math
import random
import subprocess
import sys
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest
from sampler_chain import BEYOND, chain_of, minus, plus, times, weight

from dpaudit import noise
from dpaudit.errors import InvalidArgument

SCALES = [Fraction(t) for t in ("1", "2", "3", "8", "1/2", "1/3", "3/2", "5/3", "7/4", "10/7")]
VARIANCES = [Fraction(v) for v in ("1", "2", "1/4", "9/4", "7/3", "12")]
SOURCE = inspect.getsource(noise)


def loaded(text: str = SOURCE) -> Any:
    module = ModuleType("noise_under_test")
    exec(compile(text, "<noise under test>", "exec"), module.__dict__)
    return module


def require_uniform(sampler: Any, bound: int) -> None:
    chain = chain_of(lambda source: sampler.below(bound, source.bits), "<noise under test>")
    values, again = chain.solve()
    assert values.keys() == set(range(bound))
    for mass in values.values():
        assert times(mass, weight(bound)) == minus(weight(), again)


def require_decay(sampler: Any, numerator: int, denominator: int) -> None:
    """For g <= 1: stage k ends it with g^(k-1) / (k-1)! - g^k / k!, so True sums up to e^-g."""
    ratio, deepest = Fraction(numerator, denominator), 9

    def run(source: Any) -> bool:
        decays = sampler.decays
        with_primitives = {"below": source.below, "decays": source.decays}
        held = {name: vars(sampler)[name] for name in with_primitives}
        vars(sampler).update(with_primitives)
        try:
            return decays(numerator, denominator, source.bits)
        finally:
            vars(sampler).update(held)

    chain = chain_of(run, "<noise under test>", lambda held: held.get("stage", 0) > deepest)
    values, again = chain.solve()
    assert not again
    whole = max(0, math.ceil(ratio) - 1)
    rest, expected = ratio - whole, {}
    for k in range(1, deepest + 1):
        step = rest ** (k - 1) / math.factorial(k - 1) - rest**k / math.factorial(k)
        expected = plus(expected, weight(step if k % 2 else 0, whole))
    assert values.get(True, {}) == expected


def require_laplace(sampler: Any, scale: Fraction) -> None:
    """P(z) = (1 - q) / (1 + q) q^|z| with q = e^(-1 / scale), as rational functions of q."""
    levels = math.ceil(4 / scale) + 1

    def run(source: Any) -> int:
        vars(sampler).update(below=source.below, decays=source.decays)
        return sampler.laplace(scale, source.bits)

    chain = chain_of(run, "<noise under test>", lambda held: held.get("high", 0) > levels)
    values, again = chain.solve()
    largest = levels * scale.numerator // scale.denominator - 1
    assert largest >= 2
    q = weight(1, 1 / scale)
    for z in range(-largest, largest + 1):
        claimed = times(minus(weight(), q), weight(1, abs(z) / scale))
        assert times(values[z], plus(weight(), q)) == times(claimed, minus(weight(), again)), z
    assert any(move[2] == BEYOND for moves in chain.moves.values() for move in moves)


def require_gaussian(sampler: Any, variance: Fraction) -> None:
    """P(z) / P(0) = e^(-z^2 / (2 variance)), given the law of the integer Laplace draw."""
    most = 6

    def run(source: Any) -> int:
        def laplace(scale: int, bits: Any) -> int:
            outcomes = [(z, weight(1, Fraction(abs(z), scale))) for z in range(-most, most + 1)]
            return int(source.draw("laplace", outcomes))

        vars(sampler).update(laplace=laplace, decays=source.decays)
        return sampler.gaussian(variance, source.bits)

    values, _ = chain_of(run, "<noise under test>").solve()
    for z in range(-most, most + 1):
        assert values[z] == times(values[0], weight(1, z * z / (2 * variance))), z


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 6, 7, 8, 9, 12])
def test_uniform_integers_are_uniform(bound: int) -> None:
    require_uniform(loaded(), bound)


@pytest.mark.parametrize("ratio", ["0", "1", "1/2", "2/3", "1/7", "5/3", "4", "22/7"])
def test_decay_has_the_probability_of_its_exponential(ratio: str) -> None:
    fraction = Fraction(ratio)
    require_decay(loaded(), fraction.numerator, fraction.denominator)


@pytest.mark.parametrize("scale", SCALES)
def test_law_of_the_integer_laplace_sampler(scale: Fraction) -> None:
    require_laplace(loaded(), scale)


@pytest.mark.parametrize("variance", VARIANCES)
def test_law_of_the_integer_gaussian_sampler(variance: Fraction) -> None:
    require_gaussian(loaded(), variance)


OFF = [
    ("found = bits(size)", "found = bits(size - 1)"),
    ("found = bits(size)", "found = bits(size) | 1"),
    ("found = bits(size)", "found = bits(size) % bound"),
    ("found = bits(size)", "found = bits(size + 1) % bound"),
    ("if found < bound:", "if found <= bound:"),
    ("(bound - 1).bit_length()", "max(1, bound.bit_length() - 1)"),
    ("bits) < numerator", "bits) <= numerator"),
    ("denominator * stage", "denominator"),
    ("stage = 1\n", "stage = 2\n"),
    ("stage % 2 == 1", "stage % 2 == 0"),
    ("while numerator > denominator:", "while False:"),
    ("numerator -= denominator", "numerator -= 2 * denominator"),
    ("high = 0", "high = 1"),
    ("(low + whole * high) // part", "(low + whole * high) // whole"),
    ("(low + whole * high) // part", "-(-(low + whole * high) // part)"),
    ("decays(low, whole, bits)", "decays(2 * low, whole, bits)"),
    ("while decays(1, 1, bits):", "while decays(1, 2, bits):"),
    ("if size or not negative:", "if True:"),
    ("if size or not negative:", "if not negative or size > 1:"),
    ("negative = bits(1)", "negative = bits(2) == 3"),
    ("variance / near)", "near)"),
    ("(2 * variance)", "variance"),
    ("(abs(found)", "(found"),
]


def require_every_law(text: str) -> None:
    for bound in (1, 3, 6):
        require_uniform(loaded(text), bound)
    for numerator, denominator in ((0, 1), (1, 1), (2, 3), (7, 3)):
        require_decay(loaded(text), numerator, denominator)
    for scale in (Fraction(2), Fraction(1, 2), Fraction(3, 2)):
        require_laplace(loaded(text), scale)
    for variance in VARIANCES[:3]:
        require_gaussian(loaded(text), variance)


@pytest.mark.parametrize("change", OFF, ids=lambda change: change[1])
def test_a_sampler_that_is_off_by_one_bit_has_another_law(change: tuple[str, str]) -> None:
    require_every_law(SOURCE)
    assert change[0] in SOURCE
    with pytest.raises((AssertionError, KeyError, ValueError, IndexError)):
        require_every_law(SOURCE.replace(*change))


def test_frequencies_of_real_bits() -> None:
    """A chain is of the code; this is of the module that ships, with its default source too."""
    draws = 20_000
    bits = random.Random(5).getrandbits
    for sampler, parameter, mass in (
        (noise.laplace, Fraction(3, 2), lambda z: math.exp(-abs(z) / 1.5)),
        (noise.gaussian, Fraction(5, 2), lambda z: math.exp(-z * z / 5)),
    ):
        total = sum(mass(z) for z in range(-60, 61))
        found = [sampler(parameter, bits) for _ in range(draws)]
        own = [sampler(parameter) for _ in range(200)]
        assert all(type(z) is int for z in found + own)
        for z in range(-4, 5):
            p = mass(z) / total
            # Bernstein: wrong with probability below 1e-9 for each of 18
            width = math.sqrt(2 * draws * p * math.log(2e9)) + math.log(2e9)
            assert abs(found.count(z) - draws * p) <= width


@pytest.mark.parametrize("value", [0.5, 0, -1, Fraction(-1, 2), True, "1", math.inf])
def test_parameters_that_are_no_positive_rational(value: Any) -> None:
    for sampler in (noise.laplace, noise.gaussian):
        with pytest.raises(InvalidArgument, match="must be"):
            sampler(value)


def test_the_module_is_light() -> None:
    code = "import sys, dpaudit.noise; sys.exit(bool({'numpy', 'flint'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
