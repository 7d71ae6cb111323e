"""A hypothesis under judgement: a pair, an event and a direction, with its shares of the error."""

from __future__ import annotations

from dpaudit.sample.budget import ErrorBudget
from dpaudit.sample.events import Candidate
from dpaudit.sample.evidence import Evidence, Null
from dpaudit.sample.lower import epsilon_lower
from dpaudit.sample.plan import AuditPlan, looks
from dpaudit.verdict import Course

POINTS = 48


class Hypothesis:
    """A pair, an event and a direction under judgement."""

    def __init__(
        self,
        plan: AuditPlan,
        index: int,
        candidate: Candidate,
        bet: ErrorBudget,
        bound: ErrorBudget,
    ) -> None:
        self.pair = plan.pairs[index]
        self.index = index
        self.candidate = candidate
        self.plan = plan
        belief = (candidate.hits, candidate.hits_other, candidate.rounds)
        self.evidence = Evidence(Null(plan.epsilon, plan.delta), belief)
        self.needed = bet.threshold
        times = looks(len(plan.blocks(plan.finalists)))
        weights = [1] * (len(times) - 1) + [max(len(times) - 1, 1)]
        labels = [f"after block {block}" for block in times]
        self.shares = dict(zip(times, bound.split(labels, weights), strict=True))
        self.lower = 0.0
        self.blocks = 0
        self.rounds: list[int] = [0]
        self.values: list[float] = [0.0]
        self.lowers: list[float] = [0.0]

    def update(self, hits: int, hits_neighbour: int, rounds: int) -> None:
        """Count one block of fresh runs."""
        if self.candidate.swapped:
            hits, hits_neighbour = hits_neighbour, hits
        self.evidence.update(hits, hits_neighbour, rounds)
        self.blocks += 1
        share = self.shares.get(self.blocks)
        if share is not None:
            e = self.evidence
            bound = epsilon_lower(e.hits, e.hits_neighbour, e.rounds, float(share), self.plan.delta)
            self.lower = max(self.lower, bound)
        self.rounds.append(self.evidence.rounds)
        self.values.append(self.evidence.value)
        self.lowers.append(self.lower)

    @property
    def course(self) -> Course:
        """The evidence block by block, thinned to a few dozen points; the last one is kept."""
        kept = [*range(0, self.blocks, self.blocks // POINTS + 1), self.blocks]
        direction = "neighbour over stream" if self.candidate.swapped else "stream over neighbour"
        return Course(
            f"{self.pair.name} | {self.candidate.event} | {direction}",
            self.needed,
            tuple(self.rounds[k] for k in kept),
            tuple(self.values[k] for k in kept),
            tuple(self.lowers[k] for k in kept),
        )

    @property
    def refuted(self) -> str | None:
        """How the claim is refuted, if it is."""
        if self.evidence.peak >= self.needed:
            return "evidence"
        return "lower bound" if self.lower > self.plan.epsilon else None
