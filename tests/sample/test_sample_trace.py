"""The gray box names the line that leaks, and stays quiet where nothing does."""

from pathlib import Path

import numpy as np
import pytest

from dpaudit.sample.boxes import file_box
from dpaudit.sample.recorder import Recorder
from dpaudit.sample.streams import candidates
from dpaudit.sample.taint import Noise, Raw, TracingGenerator
from dpaudit.sample.trace import diagnose

FILE = str(Path(__file__).parent / "policies.py")
HORIZON = 40


def found(name: str, epsilon: float = 1.0):
    box = file_box(f"{FILE}:{name}", 2, HORIZON, epsilon, 20.0)
    pairs = candidates(2, HORIZON, 0)
    return diagnose(box, pairs, epsilon, range(3), FILE)


def line_of(text: str) -> int:
    lines = Path(FILE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("name", ["Private", "at_once"])
def test_private_policies_raise_no_suspicion(name):
    diagnosis = found(name)
    assert not diagnosis.suspicious
    assert diagnosis.charge == pytest.approx(1.0)
    assert diagnosis.releases >= 2
    assert diagnosis.offered is None


def test_an_unnoised_first_reward_is_named_with_its_line():
    diagnosis = found("FirstRewardPlain")
    assert diagnosis.unnoised is not None
    assert diagnosis.unnoised.pair.position < 2
    places = [(place.file, place.line) for place in diagnosis.unnoised.places]
    assert (FILE, line_of("self.means[arm] = (self.total")) in places
    pair, stop = diagnosis.offered
    assert stop == diagnosis.unnoised.step + 1 and pair == diagnosis.unnoised.pair
    assert not diagnosis.leaks


def test_a_comparison_with_a_raw_reward_is_named_with_its_line():
    diagnosis = found("Peeking")
    assert diagnosis.unnoised is not None
    assert line_of("if reward < 0.5") in [place.line for place in diagnosis.unnoised.places]


@pytest.mark.parametrize(("name", "charge"), [("TooLittleNoise", 2.0), ("GaussianNoise", np.inf)])
def test_a_release_too_large_for_its_noise_is_named(name, charge):
    diagnosis = found(name)
    assert diagnosis.leaks[0].charge == pytest.approx(charge)
    assert diagnosis.leaks[0].place.line == line_of("self.means[arm] = (self.total")
    assert diagnosis.unnoised is None


def test_a_reward_in_two_releases_is_too_much_in_sum():
    diagnosis = found("Redrawn")
    assert not diagnosis.leaks
    assert diagnosis.charge == pytest.approx(2.0)
    assert diagnosis.suspicious and diagnosis.offered is not None


def test_noise_arithmetic_keeps_scale_and_value():
    recorder = Recorder(__file__)
    noise = Noise(0.5, "Laplace", 2.0, recorder)
    raw = Raw(3.0, recorder)
    assert raw + noise == 3.5 and noise + raw == 3.5 and raw - noise == 2.5 and 3.0 - noise == 2.5
    assert np.float64(3.0) + noise == 3.5
    assert (np.array([1.0, 2.0]) + noise / 2).tolist() == [1.25, 2.25]
    assert [c.scale for c in recorder.covered] == [2.0] * 5 + [1.0] * 2
    both = noise + Noise(1.0, "Laplace", 5.0, recorder)
    assert isinstance(both, Noise) and both.value == 1.5 and both.scale == 5.0


def test_generator_draws_are_those_of_numpy():
    recorder = Recorder(__file__)
    traced = TracingGenerator(np.random.default_rng(4), recorder)
    plain = np.random.default_rng(4)
    assert 2.0 + traced.laplace(0, 3.0) == 2.0 + plain.laplace(0, 3.0)
    assert traced.laplace(7.0, 2.0) == pytest.approx(plain.laplace(7.0, 2.0))
    array = np.arange(3.0) + traced.normal(0, [1.0, 2.0, 3.0])
    assert array == pytest.approx(np.arange(3.0) + plain.normal(0, [1.0, 2.0, 3.0]))
    assert traced.integers(100) == plain.integers(100)
    assert [c.value for c in recorder.covered] == [2.0, 7.0, 0.0, 1.0, 2.0]


def test_raw_numbers_behave_like_floats():
    recorder = Recorder(__file__)
    raw = Raw(0.25, recorder)
    total = sum([raw, raw], 0.0)
    assert isinstance(total, Raw) and not recorder.seen
    assert float(total * 2 - 1 / raw) == -3.0
    assert (raw < 1) and (raw <= 0.25) and raw != 1 and abs(-raw) >= 0.25 and int(raw) == 0
    assert np.array([1.0]) + raw == 1.25
    assert len(recorder.seen) >= 6
