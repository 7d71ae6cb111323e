"""Problem-dependent lower bound, linear bandits (paper, Theorem thm:linnogap_reg, lines 1063-1251).

Fact 2 bounds rho = sum_j N_j |a_j' G^-1 x|, x = a - a*, G = sum_j N_j a_j a_j', by
sum_j |a_j' x| / |a_j|^2. That is false. The right constant is

    rho_bar = max over bases B of arms of the l1 norm of x's coordinates in B.

Proof: w_j = N_j a_j' G^-1 x is the weighted least-norm solution of sum_j w_j a_j = x. By Cramer's
rule and Cauchy-Binet it is the average of the basic solutions, w = sum_B lambda_B w_B, with weights
lambda_B proportional to det(A_B)^2 prod_{i in B} N_i. So sum_j |w_j| <= max_B |w_B|_1, and the
bound is approached when the N_i of one basis dominate.

This bounds rho_T at H_T = G^-1/|G^-1|, and in the limit at H (l. 1190): choose S so that H_T -> H,
log T |x|^2 tends to its limit superior (norm of G^-1) and N_j |G^-1| -> n_j <= oo for each j. As
G >= N_j a_j a_j', a_j' H_T a_j <= 1/(N_j |G^-1|) (`lpd.dominated`): n_j = oo gives H a_j = 0 and
no term; where n_j is finite, N_j |G^-1| |a_j' H x| - N_j |a_j' G^-1 x| tends to 0. The factor
|x|^2_{H_T}/|x|^2_H tends to 1 if |x|_H > 0 (else `lpd.degenerate`): limsup_S rho_T(H) <= rho_bar.

The printed theorem is false. Take arms a* = (1, 0) and a = (c, sqrt(1-c^2)): rho_a = 2 (1-c), so
the bound is log T/(6 eps (1-c)) for gap 1 and small 1-c. Private pairwise elimination plays both
arms in blocks of n = 1, 2, 4, .. pairs, releases the number of pairs in which the first was larger
plus Lap(1/eps) (each reward is in one block, so this is eps-DP on R^T), and stops when that is
further than n sqrt(L/(2n)) + L/eps from n/2, L = log T + 2 log log T. A false stop has probability
O(1/T), and for gap 1 every block with L/n <= 1/43.57 stops (`lpd.elimination-threshold`), so it
pays at most 4 * 43.57 log T (1 + o(1)) = 174.28 log T; for other gaps it pays O(log T) too, so it
is consistent. (It knows T, as the paper's policies may, l. 589.)
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import prod

import flint
from sympy import Rational, Symbol, erf, log, pi, sqrt, symbols

from dpaudit.claims.claim import GRANTED, REFUTED, SAMPLED, Claim, Result, Tally
from dpaudit.claims.domain import POSITIVE, REALS, Domain, RealInterval, above, between
from dpaudit.claims.methods import Monotone, Rewrite
from dpaudit.claims.theorem import FALSE, PRINTED, REPAIRED, Theorem

D, e, g, T, R, r, N = symbols("Delta epsilon alpha T R rho N", positive=True)
s = Symbol("s", positive=True)
c, x = symbols("c x", positive=True)
u, v, w, y, z, h = symbols("u v w y z h", real=True)
K, L, M = symbols("K L M", nonnegative=True)
whole = Domain(
    {
        e: POSITIVE,
        D: POSITIVE,
        g: POSITIVE,
        r: POSITIVE,
        s: POSITIVE,
        w: REALS,
        y: REALS,
        z: REALS,
        h: REALS,
    },
    (w - y * (1 - z), e * (D + g) / (r * sqrt(2 * pi)) * h - w, s - h),
)
AT = "Theorem thm:linnogap_reg"


def _solve(matrix, vector):
    rows = len(matrix)
    left = flint.fmpq_mat(
        rows,
        rows,
        [flint.fmpq(v.numerator, v.denominator) for row in matrix for v in map(Fraction, row)],
    )
    right = flint.fmpq_mat(
        rows, 1, [flint.fmpq(v.numerator, v.denominator) for v in map(Fraction, vector)]
    )
    if left.det() == 0:
        return None
    solution = left.solve(right)
    return [Fraction(int(solution[i, 0].p), int(solution[i, 0].q)) for i in range(rows)]


def _gram(arms, counts):
    size = len(arms[0])
    return [
        [sum(n * a[i] * a[j] for a, n in zip(arms, counts, strict=True)) for j in range(size)]
        for i in range(size)
    ]


def _weights(arms, counts, x):
    dual = _solve(_gram(arms, counts), x)
    return dual and [
        n * sum(p * q for p, q in zip(a, dual, strict=True))
        for a, n in zip(arms, counts, strict=True)
    ]


def _basic(arms, x):
    size = len(x)
    for basis in itertools.combinations(range(len(arms)), size):
        columns = [[arms[j][i] for j in basis] for i in range(size)]
        solution = _solve(columns, x)
        if solution is not None:
            full = [Fraction(0)] * len(arms)
            for j, value in zip(basis, solution, strict=True):
                full[j] = value
            yield basis, columns, full


# The last arm is a*, optimal for theta = (1/4, -1/2, 1); a = (0, 1, 1), so a - a* = (0, 1, 0).
ARMS = ((1, 0, 0), (0, 1, 1), (1, 1, 0), (0, 0, 1))
COUNTS = (100, 10, 100, 10**9)
TARGET = (0, 1, 0)


def _component(rng):
    """Arm (1, 0, 0) is orthogonal to a - a*, so alpha_j = 0, yet the product is not 0."""
    value = _solve(_gram(ARMS, COUNTS), TARGET)[0]
    if value == 0:
        return Tally(1)
    return Tally(
        1,
        f"arms {ARMS}, pulls {COUNTS}, a_j = (1, 0, 0), a - a* = {TARGET}: alpha_j = 0 "
        f"but a_j' G^-1 (a - a*) = {float(value):.6f}",
    )


def _rho(rng):
    """rho_T(H) with H the exact limit of G^-1/|G^-1| as the pulls of a* grow: (A^-1, 0; 0, 0)."""
    plane = _solve(_gram([arm[:2] for arm in ARMS[:3]], COUNTS[:3]), TARGET[:2])
    direction = [*plane, Fraction(0)]  # H(a - a*), up to a positive factor that cancels
    norm_h = sum(p * q for p, q in zip(TARGET, direction, strict=True))
    dual = _solve(_gram(ARMS, COUNTS), TARGET)
    norm_g = sum(p * q for p, q in zip(TARGET, dual, strict=True))
    spent = sum(
        n * abs(sum(p * q for p, q in zip(arm, direction, strict=True)))
        for arm, n in zip(ARMS, COUNTS, strict=True)
    )
    value = norm_g / norm_h * spent
    claimed = sum(
        Fraction(abs(sum(p * q for p, q in zip(arm, TARGET, strict=True))), sum(v * v for v in arm))
        for arm in ARMS
    )
    if value <= claimed:
        return Tally(1)
    return Tally(
        1,
        f"arms {ARMS} with a* last, a = (0, 1, 1), pulls {COUNTS}: rho_T(H) = "
        f"{float(value):.6f} > rho_a(A) = {claimed}",
    )


def _random(rng, count):
    for _ in range(count):
        size = int(rng.integers(2, 4))
        number = size + int(rng.integers(0, 3))
        arms = [tuple(int(v) for v in rng.integers(-3, 4, size=size)) for _ in range(number)]
        counts = [Fraction(int(v)) for v in 10 ** rng.integers(0, 6, size=number)]
        x = [int(v) for v in rng.integers(-3, 4, size=size)]
        weights = _weights(arms, counts, x)
        if weights is not None:
            yield arms, counts, x, weights


def _bar(share):
    def check(rng):
        count = 0
        for arms, counts, x, weights in _random(rng, 700):
            count += 1
            largest = max(sum(map(abs, full)) for _, _, full in _basic(arms, x))
            if sum(map(abs, weights)) > share * largest:
                return Tally(count, f"arms {arms}, pulls {counts}, x {x}")
        return Tally(count)

    return check


def _mixture(rng):
    count = 0
    for arms, counts, x, weights in _random(rng, 300):
        total, mixed = Fraction(0), [Fraction(0)] * len(arms)
        for basis, columns, full in _basic(arms, x):
            det = flint.fmpq_mat(len(x), len(x), [flint.fmpq(v) for row in columns for v in row])
            size = int(det.det().p) ** 2 * prod(counts[j] for j in basis)
            total += size
            mixed = [m + size * w for m, w in zip(mixed, full, strict=True)]
        count += 1
        if [m / total for m in mixed] != weights:
            return Tally(count, f"arms {arms}, pulls {counts}, x {x}")
    return Tally(count)


def _orthogonal(rng):
    count = 0
    for size in range(2, 6):
        arms = [tuple(int(i == j) for j in range(size)) for i in range(size)]
        for one, two in itertools.permutations(range(size), 2):
            x = [p - q for p, q in zip(arms[one], arms[two], strict=True)]
            counts = [Fraction(int(v)) for v in rng.integers(1, 1000, size=size)]
            count += 1
            if sum(map(abs, _weights(arms, counts, x))) != 2:
                return Tally(count, f"d = {size}")
    return Tally(count)


def _times(one, two):
    columns = list(zip(*two, strict=True))
    return [[sum(p * q for p, q in zip(row, c, strict=True)) for c in columns] for row in one]


def _degenerate(rng):
    """Orthonormal arms with L, L^2 and T pulls: G^-1/|G^-1| tends to diag(1, 0, 0)."""
    limit, target = (1, 0, 0), (0, 1, -1)  # a = e_2, a* = e_3
    norm = sum(h * v * v for h, v in zip(limit, target, strict=True))
    if norm > 0:
        return Tally(1)
    return Tally(
        1,
        "orthonormal arms, a* = e_3, pulls (log T, log^2 T, T): H = diag(1, 0, 0), and for "
        f"a = e_2 |a - a*|_H^2 = {norm}",
    )


def _pseudo_inverse(rng):
    """(N a a')^+ = a a'/(N (a'a)^2): the four Penrose equations, entry by entry."""
    count = 0
    for _ in range(200):
        a = [Fraction(int(v)) for v in rng.integers(-4, 5, size=3)]
        if not any(a):
            continue
        pulls = Fraction(int(rng.integers(1, 50)))
        norm = sum(v * v for v in a)
        matrix = [[pulls * p * q for q in a] for p in a]
        inverse = [[p * q / (pulls * norm**2) for q in a] for p in a]
        both, back = _times(matrix, inverse), _times(inverse, matrix)
        count += 1
        if (
            _times(both, matrix) != matrix
            or _times(back, inverse) != inverse
            or any(m != [list(column) for column in zip(*m, strict=True)] for m in (both, back))
        ):
            return Tally(count, f"a = {a}")
    return Tally(count)


CLAIMS = (
    Claim(
        "lpd.alternative",
        f"{AT}, l. 1094",
        "<a - a*, theta'> = -Delta + Delta + alpha = alpha.",
        -D + (D + g) / s * s,
        "==",
        g,
        Domain({D: POSITIVE, g: POSITIVE, s: POSITIVE}),
    ),
    Claim(
        "lpd.regret",
        f"{AT}, l. 1103",
        "T Delta_min/2 >= T alpha/2 for alpha < Delta_min.",
        T * g / 2,
        "<=",
        T * D / 2,
        Domain({T: POSITIVE, g: POSITIVE, D: POSITIVE}, (D - g,)),
        by=(Rewrite(T * K / 2, {K: D - g}),),
    ),
    Claim(
        "lpd.kl",
        f"{AT}, l. 1119-1126",
        "3 eps (Delta+alpha)/h S = 3 eps (Delta+alpha)/q rho with rho = (q/h) S.",
        3 * e * (D + g) / s * R,
        "==",
        3 * e * (D + g) / r * (r / s * R),
        Domain({e: POSITIVE, D: POSITIVE, g: POSITIVE, s: POSITIVE, R: POSITIVE, r: POSITIVE}),
    ),
    Claim(
        "lpd.rearranged",
        f"{AT}, eq:rho_th, l. 1130",
        "log(T alpha/(4R))/log T = 1 - log(4R/alpha)/log T.",
        log(T * g / (4 * R)) / log(T),
        "==",
        1 - log(4 * R / g) / log(T),
        Domain({T: above(1), g: POSITIVE, R: POSITIVE}),
    ),
    Claim(
        "lpd.sublinear",
        f"{AT}, l. 1135",
        "Sub-linear regret makes log(4R/alpha)/log T vanish; "
        "with R = sqrt(T) it stays at least 1/2 (4/alpha >= 1): it would be < 1/2.",
        log(4 * sqrt(T) / g) / log(T),
        "<",
        log(T) / (2 * log(T)),
        Domain({T: above(1), g: POSITIVE}, (1 - g,)),
        hints=({T: Fraction(100), g: Fraction(1)},),
        expect=REFUTED,
        role="remark",
        correction="use consistency as defined (R = o(T^p) for every p > 0), not sub-linearity.",
        survives="survives: the definition of consistency gives what is needed.",
    ),
    Claim(
        "lpd.degenerate",
        f"{AT}, l. 1088 and 1140",
        "|a - a*|_H^2 > 0 for the cluster point H of G^-1/|G^-1|, so that theta' exists; the "
        "policy may explore arms at different rates.",
        models=_degenerate,
        expect=REFUTED,
        correction="where |a - a*|_H = 0, log T |a - a*|^2 tends to 0, because log T |G^-1| is "
        "bounded by the theorem without privacy, and the arm's constraint is void.",
        survives="survives: the step is needed only where the norm is positive.",
    ),
    Claim(
        "lpd.elimination-threshold",
        f"{AT}, l. 321, two arms (1, 0) and (c, sqrt(1-c^2)), gap 1, eps = 1",
        "Compare n pairs of pulls by the sign of their difference, count of mean Phi(1/sqrt 2), "
        "plus Lap(1/eps): at log T/n = 1/43.57 the deviation sqrt(x/2) + x stays below half of "
        "Phi(1/sqrt 2) - 1/2, so the pair is decided.",
        sqrt(x / 2) + x,
        "<",
        erf(Rational(1, 2)) / 4,
        Domain({x: RealInterval(0, Rational(100, 4357), True, False)}),
        by=(Monotone(x, "high"),),
        role="sharper",
    ),
    Claim(
        "lpd.elimination",
        f"{AT}, l. 321",
        "Arms a* = (1, 0) and a = (c, sqrt(1-c^2)), gap 1, eps = 1: the printed bound, log T/(3 "
        "eps rho_a Delta) = log T/(6 (1-c)), is at most what some private consistent policy pays, "
        "4 * 43.57 log T. In doubling blocks of pairs it counts, with Laplace noise, how often the "
        "first arm pays more, until the count decides (the heading of "
        "proofs/linear_problem_dependent.py).",
        1 / (6 * (1 - c)),
        "<=",
        4 * Rational(4357, 100),
        Domain({c: between(0, 1)}),
        hints=({c: Fraction(9999, 10000)},),
        expect=REFUTED,
        role="theorem",
        correction="with rho_bar_a = 2 for two arms the bound is sqrt(2 pi)/2 = 1.25 log T.",
        survives="false with the rho_a that the proof defines (l. 1149), the only one that is "
        "given; the theorem survives with rho_bar in place of it.",
    ),
    Claim(
        "lpd.dominated",
        "correction of Fact 2, from H to G^-1 (l. 1190)",
        "G >= N a a' gives N s^2 <= s for s = a' G^-1 a (both sides at the vector G^-1 a), so that "
        "N s <= 1.",
        N * s,
        "<=",
        1,
        Domain({N: POSITIVE, s: POSITIVE}, (s - N * s**2,)),
        by=(Rewrite(K / s, {K: s - N * s**2}),),
        role="sharper",
    ),
    Claim(
        "lpd.pseudo-inverse",
        "Fact 2, l. 1214",
        "The pseudo-inverse of N a a'.",
        models=_pseudo_inverse,
        expect=SAMPLED,
    ),
    Claim(
        "lpd.component",
        "Fact 2, l. 1221-1224",
        "Only the component of a - a* along a_j matters "
        "in a_j' G^-1 (a - a*), so |a_j' G^-1 (a - a*)| <= |alpha_j|/N_j.",
        models=_component,
        expect=REFUTED,
        correction="G >= N_j a_j a_j' does not order the entries of the inverses; "
        "a_j' G^-1 b_j is not 0 in general.",
        survives="Fact 2 falls with this step.",
    ),
    Claim(
        "lpd.fact-2",
        "Fact 2, l. 1176-1231",
        "rho_T(H) <= rho_a(A) = sum_j |a_j'(a-a*)|/|a_j|^2 "
        "in the limit; here a* has 10^9 pulls and the others 100 : 10 : 100, a ratio that a "
        "consistent policy may keep for ever, with H the limit "
        "itself.",
        models=_rho,
        expect=REFUTED,
        correction="rho_bar = max over bases B of arms of |A_B^-1 (a - a*)|_1, which is 2 in "
        "this example (rho tends to 11/6).",
        survives="the theorem survives with rho_bar in place of rho_a(A), and with eps/sqrt(2 pi) "
        "in place of 3 eps.",
    ),
    Claim(
        "lpd.rho-bar",
        "correction of Fact 2",
        "sum_j N_j |a_j' G^-1 x| <= max_B |A_B^-1 x|_1.",
        models=_bar(1),
        expect=SAMPLED,
        role="sharper",
        theorem="fact:2 as repaired",
    ),
    Claim(
        "lpd.mixture",
        "correction of Fact 2",
        "w = sum_B lambda_B w_B with lambda_B "
        "proportional to det(A_B)^2 prod N_i, as an exact identity.",
        models=_mixture,
        expect=SAMPLED,
        role="sharper",
    ),
    Claim(
        "lpd.orthogonal",
        "Example, l. 1233-1251",
        "For an orthonormal basis rho = 2.",
        models=_orthogonal,
        expect=SAMPLED,
        role="remark",
    ),
    Claim(
        "lpd.constraint",
        "Table tab:lb, l. 266",
        "min(Delta^2/2, 3 eps rho Delta) = Delta min(Delta/2, 3 eps rho): a factor Delta keeps "
        "the order of the two branches, u <= v.",
        D * u,
        "<=",
        D * v,
        Domain({D: POSITIVE, u: REALS, v: REALS}, (v - u,)),
        by=(Rewrite(D * K, {K: v - u}),),
        role="remark",
    ),
    Claim(
        "lpd.assembly",
        f"{AT}, l. 1130, one horizon",
        "log(T alpha/(4R)) <= KL <= eps (Delta + alpha)/(q sqrt(2 pi)) rho, rho <= rho_bar: "
        "y (1 - z) <= eps (Delta + alpha) rho_bar/(q sqrt(2 pi)); y = log T, z = log(4R/alpha)/y.",
        y * (1 - z),
        "<=",
        e * (D + g) * s / (r * sqrt(2 * pi)),
        whole,
        by=(
            Rewrite(
                K + L + e * (D + g) / (r * sqrt(2 * pi)) * M,
                dict(zip((K, L, M), whole.constraints, strict=True)),
            ),
        ),
        role="theorem",
    ),
    Claim(
        "lpd.sharper",
        "sharper, with KL constant 1",
        "eps TV <= eps |x|/sqrt(2 pi) replaces 3 eps |x|: 1/sqrt(2 pi) < 2/15 of 3.",
        1 / sqrt(2 * pi),
        "<",
        Rational(2, 5),
        role="sharper",
    ),
)

RESULT = Result(
    name="linear_problem_dependent",
    title="Problem-dependent lower bound, linear bandits",
    place="Theorem thm:linnogap_reg, l. 321, 1063-1251",
    claims=CLAIMS,
    theorems=(
        Theorem(
            "thm:linnogap_reg",
            PRINTED,
            "l. 321",
            "For every eps > 0, finite spanning set of arms and consistent eps-global DP policy, "
            "the program with 3 eps rho_a Delta_a bounds liminf R/log T, with the rho_a of its "
            "proof (l. 1149; the statement says no more than that it depends on the arms).",
            refuted_by=("lpd.elimination",),
            expect=FALSE,
        ),
        Theorem(
            "thm:linnogap_reg",
            REPAIRED,
            "l. 321",
            "The same with (eps/sqrt(2 pi)) rho_bar_a Delta_a, rho_bar_a = max_B "
            "|A_B^-1 (a - a*)|_1 over the bases B of arms.",
            ("Markov", "chain", "limit"),
            (
                "lpd.alternative",
                "lpd.regret",
                "lpd.kl",
                "lpd.rearranged",
                "lpd.constraint",
                "lpd.assembly",
                "lpd.dominated",
                "lin.sharper-tv",
                "pd.limit",
                "lem:kl as repaired",
                "lem:bret_hub as printed",
                "fact:2 as repaired",
                "book.25.1",
                "book.end-of-optimism",
            ),
            expect=GRANTED,
        ),
        Theorem(
            "fact:2",
            PRINTED,
            "l. 1176",
            "liminf rho_T(H) <= sum_j |a_j'(a - a*)|/|a_j|^2 for every cluster point H.",
            refuted_by=("lpd.fact-2",),
            expect=FALSE,
        ),
        Theorem(
            "fact:2",
            REPAIRED,
            "l. 1176",
            "sum_j N_j |a_j' G^-1 x| <= max_B |A_B^-1 x|_1 for all pulls N and every x.",
            ("sum", "book"),
            ("book.cauchy-binet",),
            expect=GRANTED,
        ),
    ),
    verdict="False as printed, with the rho_a of l. 1149, and Fact 2 is false. The theorem "
    "survives with the structural constant rho_bar_a = max_B |A_B^-1 (a - a*)|_1 in place of "
    "rho_a(A), and "
    "with (eps/sqrt(2 pi)) rho_bar_a Delta_a in place of 3 eps rho_a Delta_a by the KL constant 1 "
    "and the exact Gaussian TV.",
    misprints=(
        "l. 1088: H is only positive semi-definite; the cluster point chosen in Step 4 vanishes on "
        "a*, because a* is pulled far more often than the rest.",
        "l. 1119: KL(M, M) should read KL(M, M').",
        "l. 1154: the limit superior needs rho_T along the subsequence on which it is attained; "
        "Fact 2 states a limit inferior over all T.",
        "l. 266: Table 2 writes rho(A) for rho_a(A).",
    ),
    order=70,
)
