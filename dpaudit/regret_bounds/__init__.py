"""Regret bounds of private bandits: what privacy must cost, as numbers.

| module                              | holds                                                      |
|-------------------------------------|------------------------------------------------------------|
| `laws`, `finite`                    | d_inf, t_inf, d_epsilon of a reward law, with certificates |
| `lower`, `transport`                | lower bounds: asymptotic, minimax; at a finite T           |
| `episodes`, `upper`, `baselines`    | upper bounds of AdaP-UCB, AdaP-KLUCB, DP-SE, DP-UCB        |
| `linear`, `structural`, `clipped`   | linear bandits: c_epsilon with its duality gap, a run      |
| `regimes`                           | the epsilon from which privacy costs nothing               |
| `table`, `linear_table`, `measured` | every bound of an instance; simulations beside them        |

`dpaudit bounds` prints them; `bound.RegretBound` says what each number is about and rests on.
"""
