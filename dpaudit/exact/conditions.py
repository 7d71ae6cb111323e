"""The conditions of the extremal-streams theorem, checked on the paths of a declaration.

Where they hold for an action sequence, its log-likelihood is supermodular in the episode means, and
the largest loss over all neighbouring streams is attained with every other episode at all-0 or
all-1. A1 (episodes, noise and scores depend on past actions alone) holds by construction: the
declaration never sees a reward. The others are checked here, and the first that fails is named.
"""

from __future__ import annotations

from dpaudit.core.algorithm import Keep
from dpaudit.core.arithmetic import FLOAT
from dpaudit.core.scores import Imed, Score
from dpaudit.errors import Unsupported
from dpaudit.exact.region import Region


def failure(region: Region) -> str:
    """Return why the theorem does not hold for the likelihood of one path; empty where it does."""
    return _releases(region) or _choices(region)


def require_single_use(region: Region) -> None:
    """Raise `Unsupported` unless every release read is log-concave and shares no reward."""
    _require(_releases(region))


def require_extremal(region: Region) -> None:
    """Raise `Unsupported` unless the extremal-streams corollary covers this likelihood."""
    _require(failure(region))


def _require(reason: str) -> None:
    if reason:
        raise Unsupported(f"Extremal streams do not apply. {reason}")


def _releases(region: Region) -> str:
    seen: set[int] = set()
    for episode in region.episodes:
        kind = type(episode.kind.noise).__name__
        if not episode.kind.noise.log_concave:
            return f"{kind} noise is not log-concave."
        if not episode.kind.divisor > 0:
            return f"divisor={episode.kind.divisor} is not positive."
        if not episode.kind.noise.full_support:
            return f"{kind} noise does not have full support."
        for part in episode.steps:
            again = next((t for t in part if t in seen), None)
            if again is not None:
                return f"The reward of round {again + 1} enters two releases that are read."
            seen.update(part)
    if any(len(group) > 1 for decision in region.decisions for group in decision.shown):
        return "A decision reads the sum of several releases."
    return ""


def _choices(region: Region) -> str:
    for decision in region.decisions:
        if isinstance(decision.request, Keep):
            kept, arms = len(decision.outcome), len(decision.arms)
            if 1 < kept < arms:
                return f"Keeping {kept} of {arms} arms is not closed under minima and maxima."
            continue
        rule = decision.request.rule(FLOAT)
        joint = isinstance(rule, Imed) and len(decision.arms) == 2
        if not (isinstance(rule, Score) or joint):
            return f"{type(rule).__name__} is not an arg max of scores of own registers."
    return ""


def monotone(region: Region, index: int) -> bool:
    """Return whether the likelihood is monotone in one episode's mean.

    It is where the release wins every choice that reads it (rising) or none (falling). Eliminations
    are not counted.
    """
    wins = set()
    for decision in region.decisions:
        for arm, group in zip(decision.arms, decision.shown, strict=True):
            if index in group:
                if isinstance(decision.request, Keep):
                    return False
                wins.add(decision.outcome == arm)
    return len(wins) < 2
