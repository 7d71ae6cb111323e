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
        "dpaudit/core/episodes.py",
        'FRAME = ("start", "step", "choice")',
        'FRAME = ("step",)',
        "recognise the frame by its step alone",
    ),
    (
        "dpaudit/core/unchanged.py",
        " and name not in vars(value) for name in names",
        " for name in names",
        "overlook a frame that the instance shadows",
    ),
    (
        "dpaudit/core/scores.py",
        " and not shadowed",
        "",
        "accept a winner of the instance's own",
    ),
    (
        "dpaudit/core/scores.py",
        ' and held(type(rule), "winner") in KNOWN_WINNERS',
        " and isinstance(rule, Score)",
        "accept a winner of a class of one's own",
    ),
    (
        "dpaudit/core/stream.py",
        "known if winner_is_known(rule) else apart(rng)",
        "rng",
        "hand the generator of the noise to a foreign rule",
    ),
    (
        "dpaudit/core/walk.py",
        "if not 0 <= rows.first <= rows.stop <= self.pulls[rows.arm]:",
        "if not 0 <= rows.first <= rows.stop:",
        "release rows that have not been played",
    ),
    (
        "dpaudit/core/walk.py",
        "sizes = range(1, len(request.arms) + 1)",
        "sizes = range(1, len(request.arms))",
        "leave out that all arms survive",
    ),
    (
        "dpaudit/core/walk.py",
        "type(step) is not Step",
        "not isinstance(step, Step)",
        "trust a step that derives from the known one",
    ),
    (
        "dpaudit/structure/chain.py",
        "return max(horizon - arms, 1 if arm + 1 < horizon else 0)",
        "return max(horizon - arms - 1, 1 if arm + 1 < horizon else 0)",
        "leave out the last release of a chain",
    ),
    (
        "dpaudit/core/canonical.py",
        "return (float, value.hex())",
        "return (float, value)",
        "key -0.0 as 0.0",
    ),
    (
        "dpaudit/core/canonical.py",
        " and not kind.__dictoffset__:",
        ":",
        "trust a tuple that hides an attribute",
    ),
    (
        "dpaudit/core/canonical.py",
        "return (kind, *map(canonical, tuple.__iter__(value)))",
        "return (tuple, *map(canonical, tuple.__iter__(value)))",
        "key states of two kinds alike",
    ),
    (
        "dpaudit/core/canonical.py",
        "return (bool, int(value))",
        "return int(value)",
        "key True as 1",
    ),
    (
        "dpaudit/core/canonical.py",
        "return (Fraction, value.numerator, value.denominator)",
        "return float(value)",
        "key fractions by their nearest double",
    ),
    (
        "dpaudit/core/canonical.py",
        "known = base in BASES or (settings is not None and settings.frozen)",
        "known = base in BASES or settings is not None",
        "trust a dataclass that can change",
    ),
    (
        "dpaudit/core/canonical.py",
        "known = base in BASES or (settings is not None and settings.frozen)",
        "known = True",
        "trust a dataclass that derives from a container",
    ),
    (
        "dpaudit/core/canonical.py",
        "return (kind, canonical(value._value_))",
        "return (kind, value._name_)",
        "key flags by the names of their bits",
    ),
    (
        "dpaudit/core/canonical.py",
        "    if type(kind) in KINDS:\n",
        "    if True:\n",
        "trust classes that a metaclass calls equal",
    ),
    (
        "dpaudit/core/canonical.py",
        "            if not isinstance(getattr(kind, name, None), cached_property):\n",
        "            if False:\n",
        "overlook what an algorithm holds beside its parameters",
    ),
    (
        "dpaudit/structure/walk.py",
        "return canonical(place.state), place.pulls, self.charges, place.written, place.idle",
        "return canonical(place.state), place.pulls, place.written, place.idle",
        "forget the charges of a state met before",
    ),
    (
        "dpaudit/structure/walk.py",
        "        place, charges = replace(node.place), node.charges\n",
        "        place, charges = node.place, node.charges\n",
        "remember the answer of a step instead of asking again",
    ),
    (
        "dpaudit/structure/walk.py",
        "        require_trusted(place)\n        own",
        "        own",
        "trust every rule that is walked",
    ),
    (
        "dpaudit/structure/chain.py",
        "    probe_rules(algorithm, counts, horizon)\n",
        "",
        "look at no rule beyond the walk",
    ),
    (
        "dpaudit/structure/prove.py",
        "        walk.run(FEW_STATES, enough)\n        walk.visit_again(deadline)\n",
        "        walk.run(FEW_STATES, enough)\n",
        "call no step a second time",
    ),
    (
        "dpaudit/structure/prove.py",
        "        horizon=covered if status is Status.PROVED else horizon,\n",
        "        horizon=horizon,\n",
        "claim the whole horizon for a walk that ended early",
    ),
    (
        "dpaudit/structure/prove.py",
        "return Bound(walk.worst, horizon, 0, how)",
        "return Bound(walk.worst, horizon, walk.covered, how)",
        "believe what was not asked for again",
    ),
    (
        "dpaudit/structure/prove.py",
        "over = found.charge > exact(claimed)",
        "over = float(found.charge) > float(claimed)",
        "compare charge and claim as doubles",
    ),
    (
        "dpaudit/structure/prove.py",
        "if covered and (found.complete or not over):",
        "if True:",
        "prove with nothing walked",
    ),
    (
        "dpaudit/structure/prove.py",
        "            walk.visit_again(deadline)\n            with suppress",
        "            with suppress",
        "add up arm by arm without looking at the walked part again",
    ),
    (
        "dpaudit/structure/ledger.py",
        "return 1 / (Fraction(request.divisor) * exact(noise.scale))",
        "return 1 / (Fraction(request.divisor) * Fraction(noise.scale))",
        "take a scale for its binary double",
    ),
    (
        "dpaudit/structure/ledger.py",
        "if type(noise) is not Laplace:",
        "if not isinstance(noise, Laplace):",
        "charge a derived law as its base",
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
        "dpaudit/exact/search.py",
        "for number in range(count) for background in (1, 0)}",
        "for number in range(count) for background in (1,)}",
        "search one background",
    ),
    (
        "dpaudit/exact/search.py",
        "if not self.complete:\n            return math.inf",
        "if False:\n            return math.inf",
        "believe the upper end of part of the paths",
    ),
    (
        "dpaudit/exact/search.py",
        "return max([self.lower, *(item.bounds.upper for item in self.known.values())])",
        "return max([self.lower, self.best.bounds.upper])",
        "take the upper end of the best candidate for that of all",
    ),
    (
        "dpaudit/exact/worst.py",
        "                conditions.require_extremal(region)\n            if any(",
        "            if any(",
        "use extremal streams without their conditions",
    ),
    (
        "dpaudit/exact/worst.py",
        "                conditions.require_extremal(region)\n            if any(",
        "                conditions.require_extremal(regions[0])\n            if any(",
        "check the conditions on the first path alone",
    ),
    (
        "dpaudit/exact/worst.py",
        "                require_shown(self.algorithm, path, listing)\n",
        "                pass\n",
        "certify a path for actions that several paths show",
    ),
    (
        "dpaudit/exact/worst.py",
        "            require_alike(path, alike)\n",
        "",
        "overlook a rule that is another one in balls",
    ),
    # verdicts
    (
        "dpaudit/verdict.py",
        "if good.horizon >= bad.horizon:",
        "if good.horizon > bad.horizon:",
        "let a proof and a refutation stand side by side",
    ),
    (
        "dpaudit/verdict.py",
        "return 0 if concluded and covered >= horizon else UNDECIDED",
        "return 0 if concluded else UNDECIDED",
        "be green for fewer rounds than are claimed",
    ),
    (
        "dpaudit/judging.py",
        "combine([f for f in findings if f.instance is None], horizon)",
        "combine(findings, horizon)",
        "let another instance speak for the claimed one",
    ),
    (
        "dpaudit/exact/horizons.py",
        'whole = found.loss.certified and found.complete and found.streams == "real"',
        "whole = found.loss.certified and found.complete",
        "take binary streams for all streams",
    ),
    (
        "dpaudit/exact/horizons.py",
        'whole = found.loss.certified and found.complete and found.streams == "real"',
        'whole = found.complete and found.streams == "real"',
        "let a floating-point maximum hold",
    ),
    (
        "dpaudit/exact/horizons.py",
        "upper < math.inf and exact(upper) <= exact(self.epsilon)",
        "found.loss.lower <= self.epsilon",
        "let a lower end below the claim hold",
    ),
    # samples
    (
        "dpaudit/sample/rounds.py",
        "[seed_of(seed, *key, side) for side in (0, 1)]",
        "[seed_of(seed, *key, 0) for side in (0, 1)]",
        "give both streams the same seed",
    ),
    (
        "dpaudit/sample/bets.py",
        "above = np.exp(np.nextafter(levels, np.inf)) * (1 + 2.0**-50)",
        "above = np.exp(levels) * (1 - 2.0**-50)",
        "do not round e^epsilon up",
    ),
    (
        "dpaudit/sample/bets.py",
        "self.needed = math.log(1 / error) + SLACK",
        "self.needed = math.log(1 / error) - 0.1",
        "ask for less wealth than 1 / error",
    ),
    (
        "dpaudit/sample/bets.py",
        "short = np.flatnonzero(self.peak < self.needed)",
        "short = np.flatnonzero(np.maximum.accumulate(self.peak[::-1])[::-1] < self.needed)",
        "refute a level whose lower levels are not refuted",
    ),
    (
        "dpaudit/sample/bets.py",
        "t = np.where(more, (p * other - c * q * base) / (c * total), 0.0)",
        "t = np.where(more, (p * other - c * q * base) / total, 0.0)",
        "bet more than the null allows",
    ),
    (
        "dpaudit/sample/lower.py",
        "low = clopper_pearson(hits, rounds, error / 2)[0]",
        "low = clopper_pearson(hits, rounds, error)[0]",
        "spend the whole error on one of two bounds",
    ),
    (
        "dpaudit/sample/progress.py",
        "            prospect = suspect.prospect(self.wealth, self.left)\n",
        "            suspect.beliefs = suspect.beliefs[:, ::-1]\n"
        "            prospect = suspect.prospect(self.wealth, self.left)\n",
        "bet on the wrong stream",
    ),
    # gate
    (
        "dpaudit/sources.py",
        '            yield from (f"{module}.{alias.name}" for alias in node.names if module)\n',
        "",
        "stop following `from package import module`",
    ),
    (
        "dpaudit/sources.py",
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
        "            changes += lowered(entry.options, new.options)\n",
        "",
        "change what the evidence depends on without a reason",
    ),
    (
        "dpaudit/gate/update.py",
        "refuted = work(before).report.verdict is Status.REFUTED",
        "pass",
        "let other options hide a refutation",
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
