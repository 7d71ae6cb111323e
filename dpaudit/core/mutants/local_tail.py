"""ldp_ucb_b with a chance of the truth of 1 - e^-epsilon / 2, a formula for something else."""

from dataclasses import dataclass
from fractions import Fraction

from dpaudit.core.algorithms.ldp_ucb_b import LDPUCBB
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Exact
from dpaudit.core.response import Response, exp_below

flaw = "The truth has the chance 1 - e^-epsilon / 2 of a Laplace tail, so the odds are too high."
refuted_by = (Exact(horizon=3),)


@dataclass(frozen=True, kw_only=True)
class LaplaceTail(LDPUCBB):
    """Responses whose odds are 2 e^epsilon - 1."""

    def law(self) -> Response:
        """Return the response with the tail of a Laplace law as its lie."""
        lie = Fraction(1, 2) / exp_below(exact(self.epsilon))
        return Response(one=1 - lie, zero=lie)
