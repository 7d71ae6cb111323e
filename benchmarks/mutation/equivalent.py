"""Mutants that no test can kill, each with the reason: they conclude the same, or less.

A mutant is known by its module, its function and a part of the changed text that the text before
did not have, so that shifted lines do not matter and a rewritten line has to be argued anew.
"""

from __future__ import annotations

from operators import Mutant

WORDS = "it changes which row is named in the words, not what it is charged"
ZERO = "0 as a double compares and adds up like 0 as a fraction where it stands"
SOONER = "it decides how long is looked, not what is concluded"
EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("dpaudit/structure/chain.py", "last_count", "horizon - arms, (1)"): (
        "more is charged, and only where the horizon is shorter than the first pulls"
    ),
    ("dpaudit/structure/chain.py", "last_count", "else 1)"): (
        "more is charged, and only where the horizon is shorter than the first pulls"
    ),
    ("dpaudit/structure/chain.py", "last_count", "arm + 1 <= horizon"): (
        "more is charged, and only where the horizon is shorter than the first pulls"
    ),
    ("dpaudit/structure/chain.py", "last_count", "(arm - 1) < horizon"): (
        "more is charged, and only where the horizon is shorter than the first pulls"
    ),
    ("dpaudit/structure/chain.py", "longest_chains", "Row(float(0)"): ZERO,
    ("dpaudit/structure/chain.py", "longest_chains", "Row(Fraction(0), 1, 0)"): WORDS,
    ("dpaudit/structure/chain.py", "longest_chains", "Row(Fraction(0), 0, 1)"): WORDS,
    (
        "dpaudit/structure/tree.py",
        "is_tree",
        "(unchanged(algorithm, DPUCB, ('release', 'levels'))",
    ): ("it is only asked about algorithms in the frame"),
    ("dpaudit/structure/tree.py", "is_tree", "horizon < LARGEST"): (
        "the longest tree goes the slow way, release by release"
    ),
    ("dpaudit/structure/tree.py", "is_tree", "('release',)"): (
        "the charge of a node is asked for, so other levels are charged as they are"
    ),
    ("dpaudit/structure/tree.py", "deepest_row", "Row(float(0)"): ZERO,
    ("dpaudit/structure/tree.py", "deepest_row", "Row(Fraction(0), 1, 0)"): WORDS,
    ("dpaudit/structure/tree.py", "deepest_row", "Row(Fraction(0), 0, 1)"): WORDS,
    ("dpaudit/structure/tree.py", "deepest_row", "charge, 1, row"): WORDS,
    ("dpaudit/structure/tree.py", "deepest_row", "1 < n <= limit"): (
        "the release is the known one by identity; a probe less asks it once less"
    ),
    ("dpaudit/structure/tree.py", "deepest_row", "1 <= n < limit"): (
        "the release is the known one by identity; a probe less asks it once less"
    ),
    ("dpaudit/structure/tree.py", "deepest_row", "2 <= n <= limit"): (
        "the release is the known one by identity; a probe less asks it once less"
    ),
    ("dpaudit/structure/prove.py", "bound", "walk.worst.charge >= claimed"): SOONER,
    ("dpaudit/structure/prove.py", "bound", "with suppress(Entangled):"): (
        "in the frame nothing but lengths and releases is charged, and the chain asks them twice"
    ),
    ("dpaudit/core/noise.py", "Gaussian", "ClassVar[bool] = False"): (
        "no engine answers for Gaussian noise, so nobody asks"
    ),
    ("dpaudit/exact/likelihood.py", "_technology", "closed = (certified.affine(chain))"): (
        "rules that draw are answered before it is asked; panels are laid out for nothing"
    ),
    ("dpaudit/exact/witness.py", "witness_of", "strict=False"): (
        "streams of different lengths have no likelihoods"
    ),
    ("dpaudit/exact/balls/certified.py", "", "2 << 15"): SOONER,
    ("dpaudit/exact/balls/piecewise.py", "Piecewise.times", "(c / bend)"): (
        "the ball of `bend` is that of its inverse"
    ),
    ("dpaudit/exact/balls/differences.py", "Differences.__init__", "if (any((run[:-1]"): (
        "runs of different lengths differ before their last elimination"
    ),
    ("dpaudit/code.py", "_Case.exact", "late = (lead is not None)"): SOONER,
    ("dpaudit/symbolic/coins.py", "coin_of", "(min(max(end, 0), 2)"): (
        "beyond 1 the charge is infinite, and a coin that always falls is charged too"
    ),
    ("dpaudit/symbolic/allowed.py", "", "UNTOLD = ('builtins', 'subclasses')"): (
        "names that are made while the code runs are refused where they are asked for"
    ),
    ("dpaudit/symbolic/poison.py", "StandIn.__getattr__", "pass"): "it ends in silence instead",
    ("dpaudit/symbolic/texts.py", "_require", "if False:"): "more ends in silence",
    ("dpaudit/affine.py", "judged", "hunting = (HUNT_SHARE)"): SOONER,
    ("dpaudit/structure/walk.py", "Walk.judge", "(rng.standard_cauchy(shape) /"): (
        "rules are tried on other registers"
    ),
    ("dpaudit/structure/certificate.py", "of_walk", "pass # what follows"): (
        "states are visited in this order"
    ),
    ("dpaudit/structure/prove.py", "bound", "if False:"): "the walk that comes first takes longer",
    ("dpaudit/symbolic/roots.py", "Survey._add", "if True]"): (
        "a tuple that is shared is like its copy"
    ),
    (
        "dpaudit/structure/accounting.py",
        "accountings.once",
        "return conversions.group_delta(Fraction(charge) - 1, each, unit)",
    ): "two releases are charged 2 at least, which leaves a delta of 1 or more: no claim is met",
    ("dpaudit/core/lockstep.py", "decisions", "pass"): "more is kept in memory",
    ("dpaudit/core/divergence.py", "_newton_from_right", "(least - w)"): (
        "steps never rise and end when they gain nothing, long before the hundredth"
    ),
    ("dpaudit/structure/always.py", "_charges", "!= found[2]"): "found[2] is found[1] by then",
    ("dpaudit/structure/tree.py", "deepest_row", "tariff.unit > 2"): (
        "a person of two rewards is then charged twice what one is: more"
    ),
    ("dpaudit/structure/program.py", "_decisions", "longest = min"): (
        "fewer rules of what ships are looked at, which have one kind in every state"
    ),
    ("dpaudit/structure/ledger.py", "total", "(first <= stop)"): "a release of no rows is refused",
    ("dpaudit/symbolic/questions.py", "_record", "apart = False"): (
        "so is recorded what the second walk records anyway; of what is not linear, both sides"
    ),
    ("dpaudit/symbolic/walk.py", "Walk._settle", "(spent >= known"): "equal charges are equal",
    ("dpaudit/symbolic/walk.py", "Walk._settle", "get(mine, float(0))"): ZERO,
    ("dpaudit/structure/walk.py", "Walk", "Row(float(0)"): ZERO,
    ("dpaudit/structure/walk.py", "Walk", "Row(Fraction(0), 1, 0)"): WORDS,
    ("dpaudit/structure/walk.py", "Walk", "Row(Fraction(0), 0, 1)"): WORDS,
}


def equivalent(mutant: Mutant) -> str | None:
    """Return why a mutant cannot be killed, if it is known."""
    for (module, function, part), reason in EQUIVALENT.items():
        here = (module, function) == (mutant.module, mutant.function)
        if here and part in mutant.after and part not in mutant.before:
            return reason
    return None
