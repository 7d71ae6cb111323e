"""AdaP-TT (Azize, Jourdan, Al Marjani & Basu 2023): private best-arm identification, top two.

Doubling episodes with forgetting; the mean of an arm's last episode of n = N / 2 rewards has
Laplace(1 / (epsilon n)). Before every episode the leader is the arm with the largest index of
adap_ucb. With L_a = log(3 K k_a (k_a + 1) / error), k_a = log2(N_a) + 1 the number of releases of
arm a, and w_a = sqrt(L_a / (2 n_a)) + L_a / (epsilon n_a), the run stops and recommends the leader
once its mean less its width is above every other mean plus its own. Otherwise the challenger has
the smallest transportation cost to the leader, and a public coin of chance `top` plays the leader,
else the challenger.

P(|mean - truth| > w_a) <= 3 e^-L_a for one release (Hoeffding, and the tail of the noise), and
3 sum_a sum_k e^-L = error sum_k 1 / (k (k + 1)) = error: a wrong arm is recommended with
probability at most `error`. The widths are this union bound, not the paper's threshold. What is
published is the actions, when it stopped, and what it recommends: functions of the releases and of
coins.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.core.algorithm import Choose, Question, Stop, Toss
from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.arithmetic import Arithmetic, exact
from dpaudit.core.scores import Affine, Challenger
from dpaudit.errors import InvalidArgument


@dataclass(frozen=True, kw_only=True)
class AdapTT(AdapUCB):
    """Top two on private means: a leader, a challenger, a coin between them, and a rule to stop."""

    error: float = 0.05
    top: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("error", "top"):
            if getattr(self, name) >= 1:
                raise InvalidArgument(name, getattr(self, name), "must be below 1.")

    def ask(self, pulls: tuple[int, ...], answers: tuple[Any, ...]) -> Question | int:
        """Ask for the leader, whether it is certain, for a challenger, and for the coin."""
        match answers:
            case ():
                return self.choice(pulls)
            case (leader,):
                return self.certainty(pulls, leader)
            case (leader, certain) if certain == leader:
                return Stop(leader)
            case (leader, _) if self.arms > 2:
                return self.challenge(pulls, leader)
            case (_, _) | (_, _, _) if len(answers) == min(self.arms, 3):
                return Toss((exact(self.top), 1 - exact(self.top)))
        return int(answers[-2] if answers[-1] else answers[0])

    def certainty(self, pulls: tuple[int, ...], leader: int) -> Choose:
        """Return the choice that the leader wins where its lower end is above all upper ends."""

        def rule(m: Arithmetic) -> Affine:
            n = m.number(np.array(pulls)) / 2
            releases = m.number(np.array([count.bit_length() for count in pulls]))
            level = m.log(3 * self.arms * releases * (releases + 1) / m.number(self.error))
            width = m.sqrt(level / (2 * n)) + level / (m.number(self.epsilon) * n)
            signs = m.number(np.array([-1 if arm == leader else 1 for arm in range(self.arms)]))
            return Affine(signs * width)

        arms = tuple(range(self.arms))
        return Choose(arms, tuple((arm,) for arm in arms), rule)

    def challenge(self, pulls: tuple[int, ...], leader: int) -> Choose:
        """Return the choice of the arm that is hardest to tell from the leader."""

        def rule(m: Arithmetic) -> Challenger:
            n = m.number(np.array(pulls))
            return Challenger(leader, 1 / m.sqrt(1 / n + 1 / n[leader]))

        arms = tuple(range(self.arms))
        return Choose(arms, tuple((arm,) for arm in arms), rule)
