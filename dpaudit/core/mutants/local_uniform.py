"""ldp_ucb_b that answers with a fair coin where it should lie."""

from dataclasses import dataclass

from dpaudit.core.algorithms.ldp_ucb_b import LDPUCBB
from dpaudit.core.arithmetic import exact
from dpaudit.core.mutant import Exact
from dpaudit.core.response import Response, truthful

flaw = "What should be a lie is a fair coin, so that half of it is the truth as well."
refuted_by = (Exact(horizon=3),)


@dataclass(frozen=True, kw_only=True)
class FairCoin(LDPUCBB):
    """The right chance of the truth, and a fair coin in place of the lie."""

    def law(self) -> Response:
        """Return the truth with the right chance, otherwise a uniform bit."""
        true = truthful(exact(self.epsilon))
        return Response(one=(1 + true) / 2, zero=(1 - true) / 2)
