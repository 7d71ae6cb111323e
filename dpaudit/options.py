"""What fixes a judgement apart from the code that is judged: the claim, sizes, seed and budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dpaudit.core.notions import Stated
from dpaudit.errors import UnknownName, require_integer, require_positive

METHODS = ("structure", "exact", "sample")
ALL_METHODS = ("structure", "exact", "code", "sample")
BUDGET = 60.0


@dataclass(frozen=True)
class Options:
    """What was asked for; what is None is as usual for the target."""

    epsilon: float | None = None
    given: Mapping[str, int | float] = field(default_factory=dict)
    horizon: int | None = None
    exact_horizon: int | None = None
    methods: tuple[str, ...] = METHODS
    seed: int = 0
    budget: float | None = None
    runs: int | None = None
    stated: Stated | None = None
    """The claim, where it is about another notion than pure `epsilon`."""

    def __post_init__(self) -> None:
        for name in self.methods:
            if name not in ALL_METHODS:
                raise UnknownName("method", name, ALL_METHODS)
        if self.epsilon is not None:
            require_positive("epsilon", self.epsilon)
            object.__setattr__(self, "epsilon", float(self.epsilon))
        for name, least in (("horizon", 1), ("exact_horizon", 1), ("runs", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None:
                require_integer(name, value, least)
        if self.budget is not None:
            require_positive("budget", self.budget)

    @property
    def claimed(self) -> Stated:
        """What is said of the claim; the rest is the algorithm's own."""
        return self.stated or Stated(self.epsilon)

    def spend(self, usual: float = BUDGET) -> float:
        """Return the seconds that may be spent; `usual` unless they were given."""
        return usual if self.budget is None else self.budget
