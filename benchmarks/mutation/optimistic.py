"""Hand-written changes that would let a check conclude more than it may."""

from __future__ import annotations

from cover import functions_of
from operators import Mutant, mutant

OPTIMISTIC: list[tuple[str, str, str, str]] = [
    # structure
    (
        "dpaudit/structure/chain.py",
        "for arm in range(algorithm.arms):",
        "for arm in range(1):",
        "charge only arm 0's chain",
    ),
    (
        "dpaudit/structure/chain.py",
        'FRAME = ("start", "step", "choice")',
        'FRAME = ("step",)',
        "recognise the frame by its step alone",
    ),
    (
        "dpaudit/structure/chain.py",
        "return max(horizon - arms, 1 if arm + 1 < horizon else 0)",
        "return max(horizon - arms - 1, 1 if arm + 1 < horizon else 0)",
        "leave out the last release of a chain",
    ),
    (
        "dpaudit/structure/canonical.py",
        "return (float, value.hex())",
        "return (float, value)",
        "key -0.0 as 0.0",
    ),
    (
        "dpaudit/structure/canonical.py",
        " and not kind.__dictoffset__:",
        ":",
        "trust a tuple that hides an attribute",
    ),
    (
        "dpaudit/structure/canonical.py",
        "return (kind, *map(canonical, tuple.__iter__(value)))",
        "return (tuple, *map(canonical, tuple.__iter__(value)))",
        "key states of two kinds alike",
    ),
    (
        "dpaudit/structure/canonical.py",
        "return (bool, int(value))",
        "return int(value)",
        "key True as 1",
    ),
    (
        "dpaudit/structure/canonical.py",
        "return (Fraction, value.numerator, value.denominator)",
        "return float(value)",
        "key fractions by their nearest double",
    ),
    (
        "dpaudit/structure/canonical.py",
        "is_dataclass(kind) and kind.__dataclass_params__.frozen:",
        "is_dataclass(kind):",
        "trust a dataclass that can change",
    ),
    (
        "dpaudit/structure/walk.py",
        ' and "winner" not in vars(rule)',
        "",
        "accept a winner of the instance's own",
    ),
    (
        "dpaudit/structure/walk.py",
        "key = (canonical(node.state), node.pulls, node.charges)",
        "key = (canonical(node.state), node.pulls)",
        "forget the charges of a state met before",
    ),
    (
        "dpaudit/structure/walk.py",
        "        self.visit_again(deadline)\n",
        "",
        "call no step a second time",
    ),
    (
        "dpaudit/structure/prove.py",
        "over = found.charge > exact(claimed)",
        "over = float(found.charge) > float(claimed)",
        "compare charge and claim as doubles",
    ),
    (
        "dpaudit/structure/prove.py",
        "        if found.complete:\n            upper",
        "        if True:\n            upper",
        "prove with part of the transcripts",
    ),
    (
        "dpaudit/structure/prove.py",
        "            walk.visit_again(deadline)\n",
        "",
        "add up arm by arm without looking at the walked part again",
    ),
    (
        "dpaudit/structure/ledger.py",
        "type(request) not in (Release, Accumulate)",
        "not isinstance(request, (Release, Accumulate))",
        "trust a release that derives from the known ones",
    ),
    (
        "dpaudit/structure/ledger.py",
        "return rows, 1 / (Fraction(divisor) * exact(noise.scale))",
        "return rows, 1 / (Fraction(divisor) * Fraction(noise.scale))",
        "take a scale for its binary double",
    ),
    # exact
    (
        "dpaudit/exact/conditions.py",
        "if any(len(group) > 1 for group in decision.shown):",
        "if any(len(group) > 2 for group in decision.shown):",
        "drop the condition that no two releases add up",
    ),
    (
        "dpaudit/exact/conditions.py",
        "if again is not None:",
        "if False:",
        "let a reward enter two releases",
    ),
    (
        "dpaudit/exact/conditions.py",
        "if waiting is not None or isinstance(event.request, Keep):",
        "if isinstance(event.request, Keep):",
        "let two decisions show as one action",
    ),
    (
        "dpaudit/exact/conditions.py",
        "if not episode.noise.full_support:",
        "if False:",
        "let a path be impossible on some streams",
    ),
    (
        "dpaudit/exact/likelihood.py",
        "min(rounding.above(found), 0.0), True)",
        "rounding.below(found), True)",
        "round the upper end down",
    ),
    (
        "dpaudit/exact/likelihood.py",
        "value - error, min(value + error, 0.0), False)",
        "value - error, min(value + error, 0.0), True)",
        "call a floating-point likelihood certified",
    ),
    (
        "dpaudit/exact/region.py",
        "before = held.get(event.register, ()) if isinstance(event, Accumulate) else ()",
        "before = ()",
        "let a register forget what was added before",
    ),
    (
        "dpaudit/exact/witness.py",
        "loss.lower > witness.epsilon or",
        "loss.upper > witness.epsilon or",
        "refute by the upper end of a loss",
    ),
    (
        "dpaudit/exact/witness.py",
        "certified = first.certified and second.certified",
        "certified = first.certified or second.certified",
        "certify a loss by one of its two likelihoods",
    ),
    (
        "dpaudit/exact/known.py",
        "elif isinstance(value, known):",
        "elif False:",
        "compute with the formula of a base class",
    ),
    (
        "dpaudit/exact/ball_search.py",
        "for background in (1, 0):\n        shared = ball_worst",
        "for background in (1,):\n        shared = ball_worst",
        "search one background",
    ),
    (
        "dpaudit/exact/ball_search.py",
        "upper = max(max(item.upper for item in candidates), lower) if complete else math.inf",
        "upper = max(max(item.upper for item in candidates), lower)",
        "believe the upper end of part of the paths",
    ),
    (
        "dpaudit/exact/ball_search.py",
        "upper = max(max(item.upper for item in candidates), lower)",
        "upper = max(best.upper, lower)",
        "take the upper end of the best candidate for that of all",
    ),
    (
        "dpaudit/exact/ball.py",
        "    for path in paths:\n        require_extremal(path)\n",
        "",
        "use extremal streams without their conditions",
    ),
    (
        "dpaudit/exact/ball.py",
        "    for path in paths:\n        require_extremal(path)\n",
        "    require_extremal(first)\n",
        "check the conditions on the first path alone",
    ),
    # verdicts
    (
        "dpaudit/verdict.py",
        "if good.horizon >= bad.horizon:",
        "if good.horizon > bad.horizon:",
        "let a proof and a refutation stand side by side",
    ),
    (
        "dpaudit/check.py",
        "Status.SILENT if status is Status.HOLDS and doubted(findings) else status",
        "status",
        "let a small size outrank an overcharge beyond it",
    ),
    (
        "dpaudit/horizons.py",
        'whole = found.loss.certified and found.complete and found.streams == "real"',
        "whole = found.loss.certified and found.complete",
        "take binary streams for all streams",
    ),
    (
        "dpaudit/horizons.py",
        'whole = found.loss.certified and found.complete and found.streams == "real"',
        'whole = found.complete and found.streams == "real"',
        "let a floating-point maximum hold",
    ),
    (
        "dpaudit/horizons.py",
        "upper < math.inf and exact(upper) <= exact(self.epsilon)",
        "found.loss.lower <= self.epsilon",
        "let a lower end below the claim hold",
    ),
    # samples
    (
        "dpaudit/sample/plan.py",
        "runs_neighbour = box.run(pair.neighbour, rounds, seed_of(seed, *key, 1))",
        "runs_neighbour = box.run(pair.neighbour, rounds, seed_of(seed, *key, 0))",
        "give both streams the same seed",
    ),
    (
        "dpaudit/sample/evidence.py",
        "return math.nextafter(math.exp(self.epsilon), math.inf)",
        "return math.exp(self.epsilon)",
        "do not round e^epsilon up",
    ),
    (
        "dpaudit/sample/evidence.py",
        "        bet = self.bet()\n        if bet is not None:",
        "        self.hits += hits\n        bet = self.bet()\n        if bet is not None:",
        "look at a block before betting on it",
    ),
    (
        "dpaudit/sample/hypothesis.py",
        "float(share), self.plan.delta)",
        "float(share) * 2, self.plan.delta)",
        "spend the error of a bound twice",
    ),
    (
        "dpaudit/sample/lower.py",
        "low = clopper_pearson(hits, rounds, error / 2)[0]",
        "low = clopper_pearson(hits, rounds, error)[0]",
        "spend the whole error on one of two bounds",
    ),
    (
        "dpaudit/sample/budget.py",
        "return exact * (1 + 1e-14)",
        "return exact * (1 - 1e-14)",
        "round the threshold down",
    ),
    (
        "dpaudit/sample/audit.py",
        "(1, act.act, index, number), rounds)",
        "(0, act.act, index, number), rounds)",
        "judge on other seeds than those set apart for fresh runs",
    ),
    # gate
    (
        "dpaudit/gate/sources.py",
        '            yield from (f"{module}.{alias.name}" for alias in node.names if module)\n',
        "",
        "stop following `from package import module`",
    ),
    (
        "dpaudit/gate/sources.py",
        'base = _base(path, node.level) if node.level else ""',
        'base = ""',
        "stop following relative imports",
    ),
    (
        "dpaudit/gate/compare.py",
        "{*locked, *now}",
        "{*now}",
        "overlook a source that is gone",
    ),
    (
        "dpaudit/gate/compare.py",
        "slack = Fraction(0) if by_structure else ENCLOSURE_SLACK",
        "slack = ENCLOSURE_SLACK",
        "let a proved bound grow a little",
    ),
    (
        "dpaudit/gate/update.py",
        '        changes += [f"the {name} check is dropped" for name in dropped]\n',
        "",
        "drop a check without a reason",
    ),
    (
        "dpaudit/gate/lock.py",
        "edited = stated != _digest(data)",
        "edited = stated is None",
        "believe an edited lock",
    ),
]


STALE: list[str] = []


def optimistic(module: str, source: str) -> list[Mutant]:
    """Return the hand-written mutants of a module; those whose text is gone are kept in `STALE`."""
    found = []
    for name, old, new, why in OPTIMISTIC:
        if name != module:
            continue
        if source.count(old) != 1:
            STALE.append(f"{module}: {why}: {source.count(old)} times in the source: {old!r}")
            continue
        start = source.index(old)
        line = source.count("\n", 0, start) + 1
        around = [function for function, span in functions_of(source) if line in span]
        function = around[-1] if around else ""
        made = mutant(module, source, start, start + len(old), new, function, f"optimistic: {why}")
        found.append(made)
    return found
