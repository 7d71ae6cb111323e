"""Wrong variants are never proved; odd declarations are caught or met with silence."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from dpaudit.core.algorithm import Choose, Play, Release, Rows, Step
from dpaudit.core.algorithms.adap_klucb import AdapKLUCB
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.algorithms.dp_klucb import DPKLUCB
from dpaudit.core.algorithms.dp_se import DPSE
from dpaudit.core.algorithms.dp_ucb import DPUCB
from dpaudit.core.arithmetic import exact
from dpaudit.core.episodes import Deciding, Playing, Releasing
from dpaudit.core.noise import Gaussian, Laplace, NoNoise
from dpaudit.core.scores import Affine
from dpaudit.core.stream import run_stream
from dpaudit.errors import BadDeclaration
from dpaudit.structure import bound, prove
from dpaudit.verdict import Status

HORIZON = 10**6


def releasing(change, base=AdapUCB):
    """A variant whose release is changed by `change(algorithm, rows, right release)`."""

    @dataclass(frozen=True, kw_only=True)
    class Variant(base):
        def release(self, rows):
            return change(self, rows, super().release(rows))

    return Variant(arms=2)


def halved(algorithm, rows, right):
    return replace(right, noise=Laplace(exact(right.noise.scale) / 2))


def all_rewards(algorithm, rows, right):
    noise = Laplace(1 / (exact(algorithm.epsilon) * rows.stop))
    return Release(rows.arm, Rows(rows.arm, 0, rows.stop), noise, divisor=rows.stop)


def halved_when_long(algorithm, rows, right):
    return halved(algorithm, rows, right) if len(rows) >= 128 else right


@pytest.mark.parametrize("base", [AdapUCB, AdapKLUCB])
@pytest.mark.parametrize("change", [halved, all_rewards, halved_when_long])
def test_wrong_releases_are_not_proved(base, change):
    finding = prove(releasing(change, base), HORIZON)
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper > 1


def test_halved_noise_is_proved_at_twice_epsilon():
    assert prove(releasing(halved), HORIZON, 2.0).status is Status.PROVED


def test_halved_noise_in_long_episodes_is_right_until_they_end():
    algorithm = releasing(halved_when_long)
    assert prove(algorithm, 257).status is Status.PROVED
    beyond = prove(algorithm, 258)  # 128 + 128 pulls of one arm and one of the other are 257
    assert beyond.status is Status.SILENT
    assert beyond.epsilon_upper == 2.0
    assert "reward 129 of arm 0 is charged 2" in beyond.reason.lower()


@dataclass(frozen=True, kw_only=True)
class Redrawn(AdapUCB):
    """Noise drawn again at every decision: every arm's last episode is released each time."""

    def step(self, state):
        match state:
            case Deciding(pulls) if 0 not in pulls:
                return self.step((pulls, 0))
            case (tuple() as pulls, int() as arm) if type(state) is tuple and arm < self.arms:
                rows = Rows(arm, pulls[arm] // 2, pulls[arm])
                return Step(self.release(rows), lambda _: (pulls, arm + 1))
            case (tuple() as pulls, int()) if type(state) is tuple:
                return Step(self.choice(pulls), lambda arm: Playing(pulls, arm))
        return super().step(state)


def test_redrawn_noise_is_not_proved():
    finding = prove(Redrawn(arms=2), 2000, budget=1)
    assert finding.status is Status.SILENT
    assert "is charged" in finding.reason
    assert bound(Redrawn(arms=2), 12).charge > 1


def test_tree_with_too_little_noise_is_not_proved():
    @dataclass(frozen=True, kw_only=True)
    class Shallow(DPUCB):
        @property
        def levels(self):
            return (self.horizon - 1).bit_length() - 1

    finding = prove(Shallow(arms=2, horizon=300), 300)
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == pytest.approx(9 / 8)


def test_tree_at_full_size_with_an_override_is_not_waved_through():
    @dataclass(frozen=True, kw_only=True)
    class Late(DPUCB):
        def release(self, rows):
            right = super().release(rows)
            return right if rows.stop < 5 * 10**6 else replace(right, noise=Laplace(0.01))

    finding = prove(Late(arms=2, horizon=10**7), 10**7, budget=1)
    assert finding.status is Status.SILENT


def test_accumulated_batches_released_twice_are_not_proved():
    def twice(algorithm, rows, right):
        return replace(right, rows=Rows(rows.arm, max(0, rows.first - 1), rows.stop))

    finding = prove(releasing(twice, DPKLUCB), HORIZON)
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == 2.0


class Quiet(Laplace):
    def charge(self, sensitivity):
        return Fraction(0)


class Tiny(Laplace):
    def sample(self, rng):
        return 0.0


@dataclass(frozen=True)
class Impostor(Release):
    pass


def with_noise(noise):
    return lambda algorithm, rows, right: replace(right, noise=noise(right.noise.scale))


def shadowed(scale):
    noise = Laplace(scale)
    object.__setattr__(noise, "sample", lambda rng: 0.0)
    return noise


class Odd(Fraction):
    pass


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (with_noise(Quiet), "Quiet"),
        (with_noise(Tiny), "Tiny"),
        (with_noise(shadowed), "more than its scale"),
        (with_noise(lambda scale: Laplace(Odd(scale))), "is a Odd"),
        (with_noise(lambda scale: Laplace(np.float64(scale))), "is a float64"),
        (with_noise(lambda scale: Gaussian(variance=float(scale))), "infinity"),
        (with_noise(lambda scale: NoNoise()), "infinity"),
    ],
)
def test_odd_noise_is_met_with_silence(change, said):
    finding = prove(releasing(change), HORIZON)
    assert finding.status is Status.SILENT
    assert finding.epsilon_upper == math.inf
    assert said in finding.reason


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda a, rows, right: replace(right, divisor=0), "divides by 0"),
        (lambda a, rows, right: replace(right, divisor=-len(rows)), "divides by -1"),
        (lambda a, rows, right: replace(right, divisor=float(len(rows))), "divides by 1.0"),
        (lambda a, rows, right: replace(right, divisor=10**400), "divides by 1000"),
        (lambda a, rows, right: replace(right, rows=Rows(rows.arm, 0, rows.stop + 1)), "played"),
        (lambda a, rows, right: replace(right, rows=Rows(rows.arm, -1, rows.stop)), "played"),
        (lambda a, rows, right: replace(right, rows=Rows(rows.arm, 0, 0)), "no row"),
        (lambda a, rows, right: replace(right, rows=Rows(2, 0, 1)), "arm 2 of 2"),
        (lambda a, rows, right: replace(right, rows=Rows(rows.arm, 0, True)), "plain Rows"),
        (lambda a, rows, right: replace(right, rows=(0, 1)), "plain Rows"),
        (lambda a, rows, right: replace(right, noise=0.5), "no Noise"),
        (lambda a, rows, right: replace(right, noise=Laplace(-1.0)), "scale=-1.0"),
        (lambda a, rows, right: Impostor(0, rows, right.noise), "Impostor"),
        (lambda a, rows, right: None, "NoneType"),
        (lambda a, rows, right: Release([0], rows, right.noise), "list"),
        (lambda a, rows, right: 1 // 0, "ZeroDivisionError"),
    ],
)
def test_releases_that_break_the_contract_are_named(change, said):
    with pytest.raises(BadDeclaration, match="Variant at ") as caught:
        prove(releasing(change), HORIZON)
    assert said in str(caught.value)


def test_rows_of_another_arm_are_charged_to_that_arm():
    """Every episode of arm 1 releases arm 0's first reward again: found by the walk, no chain."""

    def other(algorithm, rows, right):
        return replace(right, rows=Rows(0, 0, 1), divisor=1, noise=Laplace(Fraction(8)))

    algorithm = replace(releasing(other), arms=4)
    finding = prove(algorithm, 60, budget=120)  # seconds that a busy machine may need
    assert finding.status is Status.SILENT and "arm 0" in finding.reason
    finding = prove(algorithm, HORIZON, budget=1)
    if finding.status is Status.PROVED:  # of the short runs that a slow machine got to
        assert finding.horizon < 60
    else:
        assert "arm 0" in finding.reason


def stepping(make):
    """An algorithm that is adap_ucb but for `make(algorithm, state, right step)`."""

    @dataclass(frozen=True, kw_only=True)
    class Variant(AdapUCB):
        calls: ClassVar[list[int]] = [0]

        def step(self, state):
            self.calls[0] += 1
            return make(self, state, super().step(state))

    return Variant(arms=2)


def less_noise(step):
    if not isinstance(step.request, Release):
        return step
    return replace(step, request=replace(step.request, noise=Laplace(0.001)))


def test_a_step_that_answers_differently_later_is_distrusted():
    later = stepping(lambda a, state, right: less_noise(right) if a.calls[0] > 3000 else right)
    for variant in (
        later,
        stepping(lambda a, s, right: less_noise(right) if a.calls[0] % 2 else right),
    ):
        finding = prove(variant, HORIZON, budget=30)
        assert finding.status is Status.SILENT
        assert finding.epsilon_upper == math.inf or "is charged" in finding.reason


def test_a_release_that_answers_differently_later_is_distrusted_arm_by_arm():
    calls = [0]

    def later(algorithm, rows, right):
        calls[0] += 1
        return halved(algorithm, rows, right) if calls[0] > 100 else right

    assert prove(replace(releasing(later), arms=5), 10**7, budget=20).status is Status.SILENT


def test_a_rule_that_leaves_traces_is_distrusted():
    trace = []

    @dataclass(frozen=True)
    class Leaky(Affine):
        def value(self, x):
            trace.append(float(np.max(x)))
            return super().value(x)

    @dataclass(frozen=True, kw_only=True)
    class Adaptive(AdapUCB):
        def rule(self, pulls, time, m):
            return Leaky(super().rule(pulls, time, m).shift)

        def release(self, rows):
            right = super().release(rows)
            return halved(self, rows, right) if trace and trace[-1] > 0.1 else right

    assert prove(Adaptive(arms=2), HORIZON).status is Status.SILENT


def test_a_rule_that_holds_the_generator_is_distrusted():
    @dataclass(frozen=True)
    class Rewinding(Affine):
        def winner(self, x, rng):
            rng.bit_generator.state = np.random.default_rng(0).bit_generator.state
            return super().winner(x, rng)

    @dataclass(frozen=True, kw_only=True)
    class Rewound(AdapUCB):
        def rule(self, pulls, time, m):
            return Rewinding(super().rule(pulls, time, m).shift)

    finding = prove(Rewound(arms=2), HORIZON)
    assert finding.status is Status.SILENT
    assert "Rewinding" in finding.reason


class SameForAll(tuple):
    """States that all claim to be equal: a memory that believed them would stop at once."""

    __slots__ = ()

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Emptied(tuple):
    """A state that looks empty to whoever iterates over it."""

    __slots__ = ()

    def __iter__(self):
        return iter(())


@pytest.mark.parametrize("cloak", [SameForAll, Emptied])
def test_states_that_lie_do_not_end_the_walk(cloak):
    @dataclass(frozen=True, kw_only=True)
    class Cloaked(AdapUCB):
        noise: float

        def start(self):
            return cloak([super().start()])

        def step(self, state):
            right = AdapUCB(arms=self.arms).step(tuple.__getitem__(state, 0))
            request = right.request
            if isinstance(request, Release) and len(request.rows) >= 8:
                request = replace(request, noise=Laplace(self.noise))
            return Step(request, lambda it: cloak([right.then(it)]))

    finding = prove(Cloaked(arms=2, noise=0.001), 1000)
    assert finding.status is Status.SILENT
    assert "is charged 125, more than 1" in finding.reason
    assert prove(Cloaked(arms=2, noise=8.0), 1000).status is Status.PROVED


def test_mutable_states_and_parameters_are_distrusted():
    @dataclass(frozen=True, kw_only=True)
    class Listed(AdapUCB):
        def start(self):
            return ([0],)

    @dataclass(frozen=True, kw_only=True)
    class Stored(AdapUCB):
        seen: list[float] = field(default_factory=list)

    hidden = AdapUCB(arms=2)
    object.__setattr__(hidden, "rewards", (0.0, 1.0))
    for algorithm in (Listed(arms=2), Stored(arms=2), hidden):
        finding = prove(algorithm, 1000)
        assert finding.status is Status.SILENT
        assert "list" in finding.reason or "rewards" in finding.reason


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda a, s, right: None, "NoneType"),
        (lambda a, s, right: Step(Play(7, 1), right.then), "arm 7"),
        (lambda a, s, right: Step(Play(0, 0), right.then), "0 rounds"),
        (lambda a, s, right: Step(Play(0, -3), right.then), "-3 rounds"),
        (lambda a, s, right: Step("play", right.then), "str"),
        (lambda a, s, right: Step(right.request, lambda it: 1 // 0), "ZeroDivisionError"),
        (
            lambda a, s, right: (
                Step(replace(right.request, arms=(0, 5)), right.then)
                if isinstance(right.request, Choose)
                else right
            ),
            "arm 5 of 2",
        ),
    ],
)
def test_steps_that_break_the_contract_are_named(make, said):
    with pytest.raises(BadDeclaration, match="Variant at ") as caught:
        prove(stepping(make), 100)
    assert said in str(caught.value)


@dataclass(frozen=True, kw_only=True)
class Stuck(AdapUCB):
    """Releases the first episode for ever: such a run has no actions."""

    def step(self, state):
        match state:
            case Releasing(_, rows):
                return Step(self.release(rows), lambda _: state)
        return super().step(state)


@dataclass(frozen=True, kw_only=True)
class Idle(AdapUCB):
    """Chooses for ever, so that not even a charge grows."""

    def step(self, state):
        match state:
            case Playing(pulls) if 0 not in pulls:
                return super().step(Deciding(pulls))
        return super().step(state)


@pytest.mark.parametrize("kind", [Stuck, Idle])
def test_a_loop_that_never_plays_is_named(kind):
    with pytest.raises(BadDeclaration, match="no progress"):
        prove(kind(arms=2), 100)
    with pytest.raises(BadDeclaration, match="no progress"):
        run_stream(kind(arms=2), [1.0] * 9, np.random.default_rng(0))


def test_an_elimination_that_may_keep_nobody_is_named():
    """A negative width answers `()`, which no walk over survivors would follow."""

    @dataclass(frozen=True, kw_only=True)
    class Trap(DPSE):
        def width(self, epoch, survivors, m):
            return -1.0

    @dataclass(frozen=True, kw_only=True)
    class Undefined(DPSE):
        def width(self, epoch, survivors, m):
            return math.nan

    for kind in (Trap, Undefined):
        with pytest.raises(BadDeclaration, match="width"):
            prove(kind(arms=2, horizon=10**5), 10**5)
