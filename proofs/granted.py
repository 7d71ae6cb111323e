"""Theorems of the literature that the proofs use and do not check, each with its reference."""

from __future__ import annotations

from dpaudit.claims.claim import Claim, Result

CLAIMS = (
    Claim(
        "book.15.1",
        "divergence decomposition",
        "KL of the joint laws of actions and rewards is sum_a E N_a KL(P_a, P'_a).",
        granted="Lattimore and Szepesvari (2020), Bandit Algorithms, Lemma 15.1",
    ),
    Claim(
        "book.15.2",
        "minimax bound without privacy",
        "Some Gaussian instance costs at least sqrt(T (K-1))/27.",
        granted="Lattimore and Szepesvari (2020), Bandit Algorithms, Theorem 15.2",
    ),
    Claim(
        "book.16.2",
        "problem-dependent bound without privacy",
        "liminf E N_a/log T >= 1/d_inf for each suboptimal arm a of a consistent policy.",
        granted="Lattimore and Szepesvari (2020), Bandit Algorithms, Theorem 16.2 and its proof",
    ),
    Claim(
        "book.24.1",
        "minimax bound for the box without privacy",
        "Some theta costs at least exp(-2)/8 d sqrt(T).",
        granted="Lattimore and Szepesvari (2020), Bandit Algorithms, Theorem 24.1",
    ),
    Claim(
        "book.25.1",
        "linear problem-dependent bound without privacy",
        "limsup log T |a - a*|^2 <= Delta_a^2/2 in the norm of G^-1, and |a - a*|/|a| -> 1.",
        granted="Lattimore and Szepesvari (2020), Bandit Algorithms, Theorem 25.1 and its proof",
    ),
    Claim(
        "book.end-of-optimism",
        "from the norms back to the regret",
        "A bound on limsup log T |a|^2 for each arm bounds the regret below by the program.",
        granted="Lattimore and Szepesvari (2017), The End of Optimism?, Corollary 2",
    ),
    Claim(
        "book.efron",
        "given their sum, independent Bernoulli variables grow with it",
        "The law of the hit set given H = h is stochastically increasing in h.",
        granted="Efron (1965), Increasing properties of Polya frequency functions",
    ),
    Claim(
        "book.cauchy-binet",
        "the least-norm solution is an average of basic ones",
        "G^-1 of a sum of rank-one matrices as an average over bases.",
        granted="Cauchy-Binet formula and Cramer's rule",
    ),
    Claim(
        "book.four-functions",
        "integrating a log-supermodular weight",
        "A marginal of a log-supermodular function is log-supermodular.",
        granted="Ahlswede and Daykin (1978); Karlin and Rinott (1980)",
    ),
    Claim(
        "book.chain-rule",
        "kernels compose",
        "Averages over rounds may be taken one round at a time.",
        granted="Fubini and the definition of a conditional kernel",
    ),
)

RESULT = Result(
    name="granted",
    title="Granted theorems",
    place="the literature",
    claims=CLAIMS,
    verdict="Taken from their references and not checked here.",
    order=5,
    in_paper=False,
)
