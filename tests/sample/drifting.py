"""Policies whose single run is private (epsilon = 1), and whose runs are not independent.

Each plays arm 0, then an arm by its first reward with Laplace noise, to the end. The noise hides
the reward; what else they depend on has nothing to do with rewards.
"""

import functools
import os
import time

import numpy as np

BEGUN = time.monotonic()
AT_IMPORT = np.random.default_rng().laplace()
CALLS = [0]
DRAWS = []


def played(stream, shift, noise):
    return [0] + [int(stream[0] + noise + shift > 0.5)] * (len(stream) - 1)


def clock(stream, rng):
    """Leans to arm 1 as time goes by."""
    return played(stream, 20 * (time.monotonic() - BEGUN), rng.laplace())


def counter(stream, rng):
    """Leans to arm 1 from run to run."""
    CALLS[0] += 1
    return played(stream, 0.01 * CALLS[0], rng.laplace())


def late_counter(stream, rng):
    """Changes its mind after a thousand runs."""
    CALLS[0] += 1
    return played(stream, -9.0 if CALLS[0] < 1000 else 9.0, rng.laplace())


def parity(stream, rng):
    """Every second run is of another kind."""
    CALLS[0] += 1
    return played(stream, 3.0 * (-1) ** CALLS[0], rng.laplace())


@functools.cache
def noisy(reward):
    """Answers the same question with the same noise."""
    return reward + np.random.default_rng(int.from_bytes(os.urandom(8))).laplace()


def cache(stream, rng):
    """Keeps its noisy answers."""
    return played([0.0] * len(stream), noisy(float(stream[0])), 0.0)


class ClassAttribute:
    """Counts its objects."""

    built = 0

    def __init__(self, rng):
        type(self).built += 1
        self.shift, self.noise, self.arm = 0.01 * type(self).built, rng.laplace(), 0

    def select(self):
        return self.arm

    def update(self, arm, reward):
        if self.noise is not None:
            self.arm = int(reward + self.noise + self.shift > 0.5)
            self.noise = None


def module_draw(stream, rng):
    """Draws its noise once."""
    if not DRAWS:
        DRAWS.append(rng.laplace())
    return played(stream, 0.0, DRAWS[0])


def import_draw(stream, rng):
    """Has drawn its noise when it was imported."""
    return played(stream, 0.0, AT_IMPORT)


def entropy(stream, rng):
    """Draws from a generator of its own."""
    return played(stream, 0.0, np.random.default_rng().laplace())


def string_hash(stream, rng):
    """Leans by the hash of a string."""
    return played(stream, (hash("arm") % 1000) / 100, rng.laplace())
