"""LDP-UCB-B (Ren, Zhou, Liu & Shroff 2020, arXiv 2007.03121): UCB on randomised responses.

Every reward r is answered by one bit, 1 with probability (r e^epsilon + 1 - r) / (1 + e^epsilon).
index = mean response + sqrt(2 log t / N). Responses shrink all gaps by the same factor, so the best
arm stays the best.
"""

from dataclasses import dataclass
from typing import Any

from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.local import Local
from dpaudit.core.response import Response, truthful
from dpaudit.core.scores import Affine, Score


@dataclass(frozen=True, kw_only=True)
class LDPUCBB(Local):
    """One bit per reward, counted per arm, with the bonus of UCB."""

    def law(self) -> Response:
        """Return the randomised response that costs epsilon."""
        true = truthful(exact(self.epsilon))
        return Response(one=true, zero=1 - true)

    def rule(self, pulls: Any, time: Any, m: Arithmetic) -> Score:
        """Return the index of the mean response."""
        return Affine(m.sqrt(2 * m.log(time) / pulls), scale=1 / pulls)
