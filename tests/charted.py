"""Many runs of the reference interpreter, which asks a declaration once for every public state."""

from contextlib import contextmanager

import pytest

from dpaudit.core import stream as reference


class Charted:
    """A place of many runs: what it asks for, and what follows an answer, is found out once.

    Runs that meet in one public state go on from one place, however they came there.
    """

    def __init__(self, place, chart):
        self.place, self.chart, self.known = place, chart, {}

    def __getattr__(self, name):
        found = self.__dict__[name] = getattr(self.place, name)  # a place does not change
        return found

    def after(self, answer=None):
        if answer not in self.known:
            place = self.place.after(answer)
            key = (place.state, place.pulls, place.time, place.written, place.idle)
            self.known[answer] = self.chart.setdefault(key, Charted(place, self.chart))
        return self.known[answer]


@contextmanager
def one_chart(algorithm):
    """Let all runs of an algorithm begin at one place."""
    start = Charted(reference.begin(algorithm), {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reference, "begin", lambda _: start)
        yield


def runs_of(algorithm, stream, count, rng):
    """Return so many trajectories on a stream."""
    with one_chart(algorithm):
        return [reference.run_stream(algorithm, stream, rng) for _ in range(count)]
