"""What a proof says of the program that runs: the stream runner, with its rounding.

The model of a proof draws real numbers. A program draws integers or doubles. With noise on a
lattice the two are one: rewards are rounded one by one to integers, which are added up exactly, and
an integer drawn by `dpaudit.noise` is added before anything is published. Whatever doubles do then
is post-processing, so the program has the epsilon of the proof, for every event.
"""

from __future__ import annotations

from dpaudit.core.algorithm import Algorithm
from dpaudit.structure.ledger import Charge, rounded_up
from dpaudit.verdict import Program

RUNNER = "dpaudit.core.stream.run_stream"
BITS = "its generator's bits are independent and unbiased"


def real_program(algorithm: Algorithm, horizon: int, charge: Charge) -> tuple[Program | None, str]:
    """Return what is proved of the stream runner on up to `horizon` rewards, or why nothing is.

    The declaration is one whose every release has been charged, with `charge` in all at most.
    """
    if algorithm.grid is not None:
        # every release went through `Place.drawn_on_grid`, which leaves no law on the line
        name = f"{RUNNER}, which adds up integers until a release is public"
        return Program(name, rounded_up(charge), 0.0, BITS), ""
    return None, ""
