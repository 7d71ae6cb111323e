"""Mutants that no test can kill, each with the reason: they conclude the same, or less.

A mutant is known by its module, its function and a part of the changed text that the text before
did not have, so that shifted lines do not matter and a rewritten line has to be argued anew. Either
text ends with a line end, which tells a text from one that goes on.
"""

from __future__ import annotations

from operators import Mutant

WORDS = "it changes which row is named in the words, not what it is charged"
ZERO = "0 as a double compares and adds up like 0 as a fraction where it stands"
SOONER = "it decides how long is looked, not what is concluded"
POWER = "it decides what is looked at, before the runs that count: power, not soundness"
LONGER = "the two have one length by construction"
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
    ("dpaudit/core/noise.py", "Gaussian", "ClassVar[bool] = False"): (
        "no engine answers for Gaussian noise, so nobody asks"
    ),
    ("dpaudit/exact/witness.py", "witness_of", "strict=False"): (
        "streams of different lengths have no likelihoods"
    ),
    ("dpaudit/exact/balls/certified.py", "", "2 << 15"): SOONER,
    ("dpaudit/exact/balls/piecewise.py", "Piecewise.product", "(p / bend)"): (
        "the ball of `bend` is that of its inverse"
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
    ("dpaudit/structure/certificate.py", "_state", "(it.place.time <= horizon)"): (
        "states at the horizon are written too, and checked like any other"
    ),
    ("dpaudit/structure/certificate.py", "of_walk", "pass # what follows"): (
        "states are visited in this order"
    ),
    ("dpaudit/symbolic/roots.py", "Survey._add_held", "if True]"): (
        "a tuple that is shared is like its copy"
    ),
    (
        "dpaudit/structure/accounting.py",
        "accountings.once",
        "group_delta(Fraction(charge) - 1, each, unit)\n",
    ): "two releases are charged 2 at least, which leaves a delta of 1 or more: no claim is met",
    ("dpaudit/structure/accounting.py", "judge", "if False:"): (
        "the other accountings are made too, and the least of valid numbers is taken"
    ),
    ("dpaudit/core/notions.py", "Stated.__post_init__", "self.unit or 2"): (
        "the notion is built to be checked, and no check tells 2 from 1"
    ),
    ("dpaudit/structure/program.py", "real_program", "if False:"): (
        "nothing is proved of the program either way; why is not said"
    ),
    ("dpaudit/sample/events.py", "statistics", "position + 2 + arms"): POWER,
    ("dpaudit/sample/onerun.py", "features", "code * ((SHOWN - 1))"): POWER,
    ("dpaudit/sample/events.py", "statistics", "(horizon.bit_length() - 1)"): POWER,
    ("dpaudit/sample/cells.py", "_cut_numbers", "(1 + CUTS / 2)"): POWER,
    ("dpaudit/sample/fresh.py", "Helper._asked", "assert (back is not None)"): (
        "a helper is started with both of its pipes"
    ),
    ("dpaudit/core/divergence.py", "private_lower_mean", "np.where((v >= level)"): (
        "at equality the tilted form is below 0, and chosen"
    ),
    ("dpaudit/symbolic/chance.py", "Source.outcome", "(count >= MOST_OUTCOMES)"): (
        "more ends in silence"
    ),
    ("dpaudit/core/linear.py", "_planned", "eigvalsh(information)[1]"): (
        "how wide a band is: who survives, and no charge hangs on it"
    ),
    ("dpaudit/structure/prove.py", "_bounded", "if (in_phases(algorithm)):"): (
        "few arms are proved phase by phase too, as many are"
    ),
    ("dpaudit/sample/independence.py", "Independence.begin", "key = (4,)"): (
        "runs that do not count are made by other seeds"
    ),
    ("dpaudit/sample/fresh.py", "_started", "parents[3]"): (
        "a helper that does not find dpaudit makes nothing again, which refutes nothing"
    ),
    ("dpaudit/sample/lockstep.py", "CumulativeRewards._spans", "(first < rows.first)"): (
        "the plays before end where this one begins, and hold none of the rows"
    ),
    ("dpaudit/exact/horizons.py", "Search.finding", "if self.horizons else 1"): (
        "a silent finding without any horizon, whose number of arms nobody reads"
    ),
    ("dpaudit/exact/conditions.py", "monotone", "strict=False"): LONGER,
    ("dpaudit/exact/sequences.py", "sequences", "(steered.horizon >= longest)"): SOONER,
    ("dpaudit/exact/refuting.py", "_over_binary", "if (best is None) and"): SOONER,
    ("dpaudit/exact/balls/compare.py", "_private", "(found.top.hi < 0)"): "more is refused",
    ("dpaudit/exact/balls/roots.py", "lower_mean", "(np.log(q) + middle - np.log(guess) -"): (
        "how far from the guess the root is tried; both ends are certified"
    ),
    ("dpaudit/exact/balls/certified.py", "Gridded.__call__", "(self.cells / min("): SOONER,
    ("dpaudit/exact/balls/bounds.py", "Written._examine", "first.lo > 1"): "more is refused",
    ("dpaudit/exact/balls/interval.py", "Interval._ends", "return ([self.lo, self.hi])"): (
        "an end is listed twice"
    ),
    ("dpaudit/exact/enumerate.py", "finitely_many", "clock), 2)"): (
        "the sums are right for a path without responses, and refuse one with noise"
    ),
    ("dpaudit/exact/witness.py", "_zeroed.zero", "tuple((r) for"): (
        "the witness is shown less simple, and computed again all the same"
    ),
    ("dpaudit/exact/balls/compare.py", "", "FASTEST = Fraction(1, 10**9), float(10 ** 9)"): (
        "10^9 is a double, and compares like the fraction"
    ),
    ("dpaudit/symbolic/prove.py", "_line", "(Path(place.file).name != path.name)"): (
        "the line that an annotation points at"
    ),
    ("dpaudit/symbolic/recording.py", "recorded", "assert (spec.loader is not None)"): (
        "what has no spec has no loader either: both are errors"
    ),
    ("dpaudit/symbolic/prove.py", "prove", "(found.horizon >= 0)"): (
        "a walk that covers no round is silent below; it is compared for nothing"
    ),
    ("dpaudit/symbolic/numeric.py", "Numeric.__post_init__", "body, True)"): (
        "more functions are taken whole, which charges all that they are given"
    ),
    ("dpaudit/symbolic/doubles.py", "_scaled", "else -2"): (
        "the sign alone counts; two that differ are refused"
    ),
    ("dpaudit/symbolic/declared.py", "_Path.releases", "strict=False"): LONGER,
    ("dpaudit/symbolic/conform.py", "_Compared.shrunk", "(*before, 1, *after)"): (
        "a difference that was found is shown less simple"
    ),
    ("dpaudit/symbolic/questions.py", "_winner", "able = (among)"): (
        "outcomes that cannot be are followed too, and charged"
    ),
    (
        "dpaudit/symbolic/allowed.py",
        "",
        "'erfc', 'cbrt'))",
    ): "copysign is charged as if it may raise",
    ("dpaudit/symbolic/poison.py", "Poison.__getattr__", "pass"): "it ends in silence instead",
    ("dpaudit/symbolic/answers.py", "_beside.apply", "if False:"): (
        "what is no number meets the constant as it meets any symbol: followed, or refused"
    ),
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
    (
        "dpaudit/symbolic/walk.py",
        "SymbolicWalk._settle",
        "(spent >= known",
    ): "equal charges are equal",
    ("dpaudit/symbolic/walk.py", "SymbolicWalk._settle", "get(mine, float(0))"): ZERO,
    ("dpaudit/structure/walk.py", "Walk", "Row(float(0)"): ZERO,
    ("dpaudit/structure/walk.py", "Walk", "Row(Fraction(0), 1, 0)"): WORDS,
    ("dpaudit/structure/walk.py", "Walk", "Row(Fraction(0), 0, 1)"): WORDS,
}


def equivalent(mutant: Mutant) -> str | None:
    """Return why a mutant cannot be killed, if it is known."""
    for (module, function, part), reason in EQUIVALENT.items():
        here = (module, function) == (mutant.module, mutant.function)
        if here and part in f"{mutant.after}\n" and part not in f"{mutant.before}\n":
            return reason
    return None
