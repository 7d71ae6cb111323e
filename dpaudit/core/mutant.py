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
    """The exact check refutes it with a witness; `horizon` is the first at which the flaw acts."""

    horizon: int


@dataclass(frozen=True)
class Sample:
    """The short statistical audit refutes it: rounds of a run, and runs that are enough."""

    horizon: int
    runs: int = 2_000


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
