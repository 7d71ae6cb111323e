"""Foreign code: every interface runs, every broken rule is one typed line."""

import contextlib
import random
import signal
import textwrap
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.sample.boxes import PolicyBox, accepted, file_box
from dpaudit.sample.guard import PolicyError, time_limit
from dpaudit.sample.streams import Stream

STREAM = Stream.of([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
SEED = np.random.SeedSequence(3)


class Greedy:
    """Plays every arm once, then the arm with the largest sum; speaks all four interfaces."""

    def __init__(self, arms):
        self.sums = np.zeros(arms)
        self.pulls = np.zeros(arms)

    def best(self):
        unseen = np.flatnonzero(self.pulls == 0)
        return int(unseen[0]) if len(unseen) else int(np.argmax(self.sums))

    def learn(self, arm, reward):
        self.sums[arm] += reward
        self.pulls[arm] += 1


class RiverLike(Greedy):
    def pull(self, arm_ids):
        assert arm_ids == list(range(len(self.sums)))
        return self.best()

    def update(self, arm, reward):
        self.learn(arm, reward)


class MabwiserLike(Greedy):
    def fit(self, decisions, rewards):
        self.partial_fit(decisions, rewards)

    def partial_fit(self, decisions, rewards):
        for arm, reward in zip(decisions, rewards, strict=True):
            self.learn(arm, reward)

    def predict(self):
        assert self.pulls.all()
        return self.best()


class SMPyLike(Greedy):
    def startGame(self):  # noqa: N802
        self.started = True

    def choice(self):
        assert self.started
        np.random.random()  # noqa: NPY002  that library draws from the global state
        return self.best()

    def getReward(self, arm, reward):  # noqa: N802
        self.learn(arm, reward)


class Plain(Greedy):
    def select(self):
        return self.best()

    def update(self, arm, reward):
        self.learn(arm, reward)


def whole(stream, rng):
    policy = Plain(2)
    actions = []
    for reward in stream:
        actions.append(policy.select())
        policy.update(actions[-1], reward)
    return actions


def box(build, arms=2, limit=5.0):
    return PolicyBox("policy", build, arms, STREAM.horizon, limit)


@pytest.mark.parametrize("kind", [RiverLike, MabwiserLike, SMPyLike, Plain, whole])
def test_every_interface_gives_the_same_actions(kind):
    state, python_state = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    build = (lambda rng: whole) if kind is whole else (lambda rng: kind(2))
    runs = box(build).run(STREAM, 2, SEED)
    assert runs.actions(0).tolist() == [0, 1, 0, 0, 0, 0]
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    assert random.getstate() == python_state


def test_runs_are_seeded_one_by_one():
    noisy = box(lambda rng: lambda stream, _: rng.integers(0, 2, len(stream)))
    once, twice = (noisy.run(STREAM, 20, np.random.SeedSequence(3)) for _ in range(2))
    assert (once.arms == twice.arms).all()
    assert len(np.unique(once.arms, axis=0)) > 5


class Odd(BaseException):
    """Neither an error nor an interruption."""


def raising(error):
    def select():
        raise error

    return select


def broken_select(value):
    class Broken(Plain):
        def select(self):
            return value() if callable(value) else value

    return lambda rng: Broken(2)


def spin():
    while True:
        pass


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (broken_select(7), r"policy played arm=7 in round 1; arms are 0..1."),
        (broken_select(-1), r"policy played arm=-1 in round 1"),
        (broken_select(0.5), r"policy played arm=0.5 in round 1"),
        (broken_select(None), r"policy played arm=None in round 1; it is no integer."),
        (broken_select(lambda: 1 / 0), r"policy raised ZeroDivisionError: division by zero"),
        (broken_select(lambda: exit(3)), r"policy raised SystemExit: 3"),
        (broken_select(float("nan")), r"policy played arm=nan in round 1; it is no integer."),
        (broken_select(float("inf")), r"policy raised OverflowError"),
        (broken_select(np.zeros(3)), r"policy played arm=array"),
        (broken_select(raising(MemoryError())), r"policy raised MemoryError"),
        (broken_select(raising(GeneratorExit())), r"policy raised GeneratorExit"),
        (broken_select(raising(Odd("two\nlines"))), r"policy raised Odd: two"),
        (broken_select(raising(StopIteration())), r"policy raised RuntimeError: .*StopIteration"),
        (lambda rng: lambda s, r: [0, 1], r"policy returned 2 actions; the stream has 6 rewards."),
        (lambda rng: lambda s, r: [0, 1, 0, 1, 0, 2], r"policy played arm=2 in round 6"),
        (lambda rng: lambda s, r: [0, 0.5, 0, 1, 0, 1], r"policy played arm=0.5 in round 2"),
        (lambda rng: lambda s, r: [0, 1, float("nan")] * 2, r"policy played arm=nan in round 3"),
        (lambda rng: lambda s, r: "abcdef", r"policy must return a row of arms, not str."),
        (lambda rng: lambda s, r: s.__setitem__(0, 1), r"policy raised ValueError: .*read-only"),
        (lambda rng: 42, r"policy built an object of type int, which is no policy"),
    ],
)
def test_broken_policies_cost_one_line(build, message):
    with pytest.raises(PolicyError, match=message) as caught:
        box(build).run(STREAM, 1, SEED)
    assert "\n" not in str(caught.value)


def by_chance(draw):
    return broken_select(lambda: int(draw() < 0.5))


@pytest.mark.parametrize(
    "build",
    [
        by_chance(np.random.random),  # noqa: NPY002
        by_chance(random.random),
        by_chance(lambda: np.random.default_rng().random()),
        by_chance(lambda: np.random.RandomState().random()),  # noqa: NPY002
    ],
)
def test_every_run_has_global_generators_of_its_own_seed(build):
    before = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002
    runs, again = (box(build).run(STREAM, 40, np.random.SeedSequence(5)) for _ in range(2))
    assert np.array_equal(runs.arms, again.arms)
    assert len({tuple(row) for row in runs.arms.tolist()}) > 20
    assert before == (random.getstate(), np.random.get_state()[1].tobytes())  # noqa: NPY002


def test_a_hanging_policy_is_stopped():
    with pytest.raises(PolicyError, match=r"did not finish a run within time limit=0.2 seconds"):
        box(broken_select(spin), limit=0.2).run(STREAM, 1, SEED)


def test_a_policy_that_catches_everything_is_late_all_the_same():
    def stubborn():
        with contextlib.suppress(BaseException):
            spin()
        return 0

    with pytest.raises(PolicyError, match=r"did not finish a run within time limit=0.1 seconds"):
        box(broken_select(stubborn), limit=0.1).run(STREAM, 1, SEED)


def test_an_alarm_of_the_caller_stays_and_goes_first():
    rung = []
    previous = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30.0)
        with time_limit(5.0, "policy"):
            pass
        assert 20 < signal.getitimer(signal.ITIMER_REAL)[0] <= 30
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with time_limit(60.0, "policy"):
            while not rung:
                pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_a_hanging_policy_is_stopped_in_a_thread_too():
    caught: list[BaseException] = []

    def hang():
        end = time.monotonic() + 30
        while time.monotonic() < end:
            pass

    def work():
        try:
            with time_limit(0.2, "policy"):
                hang()
        except PolicyError as error:
            caught.append(error)

    thread = Thread(target=work)
    thread.start()
    thread.join(20)
    assert len(caught) == 1


def write(folder: Path, text: str) -> str:
    path = folder / "mine.py"
    path.write_text(textwrap.dedent(text))
    return str(path)


def test_file_objects_get_the_keywords_they_accept(tmp_path):
    path = write(
        tmp_path,
        """
        class Policy:
            def __init__(self, rng, epsilon, arms):
                assert epsilon == 0.5 and arms == 3
                self.rng, self.arms = rng, arms
            def select(self):
                return int(self.rng.integers(self.arms))
            def update(self, arm, reward):
                pass
        def make(horizon, other=3):
            assert horizon == 6
            return lambda stream, rng: [other - 1] * horizon
        def direct(rewards, rng):
            return rng.integers(0, 3, len(rewards))
        class Greedy:
            def __init__(self, temperature, arms):
                pass
        """,
    )
    for name in ("Policy", "make", "direct"):
        runs = file_box(f"{path}:{name}", 3, 6, 0.5, 5.0).run(STREAM, 3, SEED)
        assert runs.arms.shape == (3, 6)
    for target, message in [
        (
            f"{path}:Greedy",
            "needs temperature; only arms, horizon, epsilon, rng are given: name it so",
        ),
        (f"{path}:polcy", r"No object in .*'polcy'"),
        (f"{path}:", "must be an algorithm's name or file.py:object"),
        (f"{tmp_path}/none.py:x", "cannot be read: No such file"),
    ]:
        with pytest.raises(DpauditError, match=message):
            file_box(target, 3, 6, 0.5, 5.0)


@pytest.mark.parametrize(
    ("parameters", "given"),
    [
        ("nbArms, epsilon=2.0", {"nbArms": "arms", "epsilon": "epsilon"}),
        ("n_arms=7, T=3, k=5, eps=0.1", {"n_arms": "arms"}),
        ("K, T, eps, rng", {"K": "arms", "T": "horizon", "eps": "epsilon", "rng": "rng"}),
        ("window=3", {}),
    ],
)
def test_parameters_of_other_names_get_what_they_mean(parameters, given):
    space: dict = {}
    exec(f"class Policy:\n    def __init__(self, {parameters}): pass", space)
    assert accepted(space["Policy"]) == given


def test_a_file_that_fails_on_import_is_named(tmp_path):
    path = write(tmp_path, "raise RuntimeError('two\\nlines')\n")
    with pytest.raises(InvalidArgument, match="cannot be imported: RuntimeError: two lines"):
        file_box(f"{path}:x", 2, 6, 1.0, 5.0)


def test_a_draw_on_first_import_is_forgiven():
    imported = []

    def build(rng):
        if not imported:
            imported.append(random.random())
        return Plain(2)

    assert box(build).run(STREAM, 2, SEED).actions(1).tolist() == [0, 1, 0, 0, 0, 0]


def test_a_file_finds_the_modules_beside_it(tmp_path: Path) -> None:
    (tmp_path / "audited_neighbour.py").write_text("FIRST = 1\n")
    policy = """
    from audited_neighbour import FIRST

    def policy(stream, rng):
        return [FIRST] * len(stream)
    """
    (tmp_path / "audited_policy.py").write_text(textwrap.dedent(policy))
    box = file_box(f"{tmp_path / 'audited_policy.py'}:policy", 2, 6, 1.0, 5.0)
    assert (box.run(STREAM, 2, SEED).arms == 1).all()


@pytest.mark.parametrize("runs", [1, 3])
def test_a_run_that_takes_the_alarm_away_is_still_late(runs):
    """In the first of several runs it is told before the next one, in the last one at the end."""
    made = []

    def deaf(stream, rng):
        made.append(1)
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(0.3)
        return [0] * len(stream)

    box = PolicyBox("deaf", lambda rng: deaf, 2, 4, limit=0.1)
    with pytest.raises(PolicyError, match="deaf did not finish a run within time limit=0.1 second"):
        box.run(Stream.constant(0.0, 4), runs, np.random.SeedSequence(0))
    assert len(made) == 1
