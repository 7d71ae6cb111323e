"""What a mutant says of itself: its flaw, and which check refutes it at which size.

A mutant is a right algorithm with one thing wrong. Its module holds `flaw`, one sentence, and
`refuted_by`, the checks that are known to refute it; where there is none, `why_not` says why. Both
are promises that the project's gate keeps: what a file says is refuted must be refuted at that
size, and no mutant may ever be proved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from dpaudit.core.algorithm import Accumulate, Algorithm, Release
from dpaudit.core.noise import Laplace


@dataclass(frozen=True)
class Exact:
    """The exact check refutes it with a witness at this horizon."""

    horizon: int


@dataclass(frozen=True)
class Changed:
    """A pair of streams: rewards in pieces (value, length), and one that changes (from step 0)."""

    pieces: tuple[tuple[float, int], ...]
    position: int
    value: float


@dataclass(frozen=True)
class Sample:
    """The statistical audit refutes it within these runs of `horizon` rounds.

    The pairs are the usual ones of a short audit, unless the flaw shows on a `pair` of its own.
    """

    horizon: int
    runs: int = 2_000
    pair: Changed | None = None


@dataclass(frozen=True)
class Mutant:
    """A known-wrong variant: a declaration, or a policy class that only the sampler can judge."""

    name: str
    flaw: str
    source: type
    file: str
    refuted_by: tuple[Exact | Sample, ...]
    why_not: str
    epsilon: float
    arms: int

    @property
    def family(self) -> str:
        """What is wrong in kind: the first word of the name."""
        return self.name.partition("_")[0]

    @property
    def target(self) -> str:
        """The TARGET on the command line."""
        return f"mutants/{self.name}"

    @property
    def declared(self) -> bool:
        """Whether it is a declaration, so that every check looks at it."""
        return issubclass(self.source, Algorithm)

    @property
    def exact(self) -> Exact | None:
        """How the exact check refutes it, if it does."""
        return next((way for way in self.refuted_by if isinstance(way, Exact)), None)

    @property
    def sample(self) -> Sample | None:
        """How the sampler refutes it, if it does."""
        return next((way for way in self.refuted_by if isinstance(way, Sample)), None)


def scaled(right: Release | Accumulate, factor: Fraction | float) -> Release | Accumulate:
    """Return a release whose Laplace noise has `factor` times the right scale."""
    if not isinstance(right.noise, Laplace):
        raise TypeError(f"only Laplace noise has a scale, not {type(right.noise).__name__}")
    return replace(right, noise=Laplace(right.noise.scale * factor))
