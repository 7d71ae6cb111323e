"""A rule of one's own never holds the generator of the noise: what it does is post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpaudit.core.algorithms.adap_ucb import AdapUCB
from dpaudit.core.scores import Affine
from dpaudit.core.stream import run_stream


def test_the_noise_of_a_run_does_not_depend_on_what_a_foreign_rule_draws():
    held: list[Any] = []
    shown: list[Any] = []

    @dataclass(frozen=True)
    class Rewinding(Affine):
        def winner(self, x: Any, rng: Any) -> Any:
            held.append(rng)
            shown.append(np.array(x))
            rng.bit_generator.state = np.random.default_rng(0).bit_generator.state
            return 0

    @dataclass(frozen=True, kw_only=True)
    class Rewound(AdapUCB):
        def rule(self, pulls: Any, time: Any, m: Any) -> Any:
            return Rewinding(super().rule(pulls, time, m).shift)

    rng = np.random.default_rng(1)
    run_stream(Rewound(arms=2), np.zeros(40), rng)
    assert len(held) >= 3
    assert all(it is not rng and it.bit_generator is not rng.bit_generator for it in held)
    # rewards are 0, so a register is its noise; rewound, each would be half of the one before
    first = [float(x[0]) for x in shown]
    scaled = [value * 2**number for number, value in enumerate(first[1:])]
    assert len({round(value, 9) for value in scaled}) == len(scaled)
