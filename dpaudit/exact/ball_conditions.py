"""The conditions of the extremal-streams corollary, checked on a declaration's own path.

(A1) holds for every declaration: its state never holds a reward. The rest is read off the path:
each release is a sum divided by a positive constant plus Laplace noise (log-concave, positive
everywhere), no reward enters two releases (A2, A5), no register adds releases and no arm shows more
than one (A3), and each decision is an arg max of monotone scores of single registers (A4). Each
decision must show in the actions, so that one path is one action sequence. A path that fails is
`Unsupported`, with the reason; nothing is assumed.
"""

from __future__ import annotations

from dpaudit.core.algorithm import Accumulate, Choose, Release
from dpaudit.core.arithmetic import BALL
from dpaudit.core.scores import Score
from dpaudit.errors import Unsupported
from dpaudit.exact.paths import Decided, Path, Played


def require_single_use(path: Path) -> None:
    """Raise `Unsupported` unless each reward enters at most one release, of log-concave noise."""
    seen: dict[int, list[tuple[int, int]]] = {}
    for event in path.events:
        if isinstance(event, Accumulate):
            raise Unsupported("A register adds several releases: extremal streams do not apply.")
        if isinstance(event, Release):
            noise = event.noise
            if not (noise.log_concave and noise.full_support):
                raise Unsupported(f"{noise} is not a log-concave positive density.")
            if not event.divisor > 0:
                raise Unsupported(f"divisor={event.divisor} is not positive.")
            rows = event.rows
            for first, stop in seen.setdefault(rows.arm, []):
                if rows.first < stop and first < rows.stop:
                    raise Unsupported(
                        "A reward enters two releases: extremal streams do not apply."
                    )
            seen[rows.arm].append((rows.first, rows.stop))


def require_extremal(path: Path) -> None:
    """Raise `Unsupported` unless the extremal-streams corollary covers this path."""
    require_single_use(path)
    decided: object = None
    for event in path.events:
        if isinstance(event, Played):
            if decided is not None and event.rows.arm != decided:
                raise Unsupported("A decision does not show in the actions.")
            decided = None
        if isinstance(event, Decided):
            request = event.request
            if not isinstance(request, Choose):
                raise Unsupported("Elimination is not an arg max: extremal streams do not apply.")
            if any(len(group) != 1 for group in request.registers):
                raise Unsupported("An arm sums registers: extremal streams do not apply.")
            if not isinstance(request.rule(BALL), Score):
                raise Unsupported("A joint rule is not an arg max of scores.")
            if decided is not None:
                raise Unsupported("A decision does not show in the actions.")
            decided = event.outcome
