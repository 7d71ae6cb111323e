"""A small private algorithm in a file, ways to spoil it, and command lines run in process."""

from __future__ import annotations

import sys

from dpaudit.cli import run

MINE = '''"""A private bandit."""

from dataclasses import dataclass

from dpaudit.core.algorithm import Release
from dpaudit.core.arithmetic import exact
from dpaudit.core.episodes import DoublingEpisodes
from dpaudit.core.noise import Laplace
from dpaudit.core.scores import Affine


@dataclass(frozen=True, kw_only=True)
class Mine(DoublingEpisodes):
    """UCB on the private mean of the last episode."""

    def rule(self, pulls, time, m):
        return Affine(m.sqrt(2 * m.log(time) / pulls))

    def release(self, rows):
        scale = 1 / (exact(self.epsilon) * len(rows))
        return Release(rows.arm, rows, Laplace(scale), divisor=len(rows))


private = Mine(arms=2, epsilon=1.0)
generous = Mine(arms=2, epsilon=2.0)


def made(arms=2, epsilon=1.0):
    return Mine(arms=arms, epsilon=epsilon)


def coin(stream, rng):
    """Ignores every reward."""
    return [int(rng.random() < 0.5) for _ in stream]


class Greedy:
    """Copies the last reward: not private at all."""

    def __init__(self, arms, rng):
        self.last = 0

    def select(self):
        return self.last

    def update(self, arm, reward):
        self.last = int(reward >= 0.5)
'''
HALVED = ("scale = 1 / (exact", "scale = 1 / (2 * exact")
SHORT = ("--horizon", "1000", "--method", "structure,exact")


def write(folder, text=MINE, name="mine.py"):
    (folder / name).write_text(text)


def spoil(folder, old, new, name="mine.py"):
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))


def forget(*names):
    """Forget modules of an earlier test's folder."""
    for name in names:
        sys.modules.pop(name, None)


def command(capsys, *words):
    """Run a command line in process; return its exit code and what it printed."""
    capsys.readouterr()
    code = run(words)
    printed = capsys.readouterr()
    return code, printed.out, printed.err
