"""Re-checks certificates in fractions, with nothing of the provers: of code, and of declarations.

Of code: all outcomes, what fixed shifts leave of constraints, what every row pays. On trust: arms,
rounds, forms, laws, coins, rows that end, the reach of functions of rewards. Of a declaration:
pulls, times, answers, what each reward pays. On trust: its requests.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

SCHEMA = 2
SLACK, ZERO = Fraction(1, 10**13), Fraction(0)
EMPTY = dict(time=0, constraints=[], scales={}, columns={}, spent={}, base={}, owed={})
Weights = dict[str, Fraction]
Trace = tuple[tuple[int, int], ...]


class Rejected(ValueError):
    """A certificate that does not hold, and where."""


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise Rejected(what)


def _fraction(text: Any) -> Fraction:
    good = isinstance(text, str) and len(text) < 10_000 and text.isascii()
    _require(good and all(it.isdigit() or it in "-/" for it in text), f"{text!r} is no fraction")
    return Fraction(text)


def _whole(value: Any, least: int, below: int | None = None) -> int:
    good = type(value) is int and least <= value < (below or value + 1)
    _require(good, f"{value!r} is no whole number of its range")
    return int(value)


def _weights(data: Any) -> Weights:
    _require(isinstance(data, dict), "weights are missing")
    return {str(n): weight for n, value in data.items() if (weight := _fraction(value))}


def _charge(*law: Any) -> Fraction:
    if law[0] == "response":
        one, zero, found = map(_fraction, law[1:])
        _require(0 <= found < 1000, "a charge is negative, or too large")
        series = Fraction(1)  # at most e^charge, which bounds the odds of either answer
        for k in range(60 + 6 * int(found), 0, -1):
            series = 1 + found * series / k
        odds = [max(p, q) <= series * min(p, q) for p, q in ((one, zero), (1 - one, 1 - zero))]
        _require(min(one, zero) >= 0 and max(one, zero) <= 1 and all(odds), "a charge is wrong")
        return found
    divisor, scale, charge = law
    over, wide, found = map(_fraction, (divisor, scale, charge))
    _require(min(over, wide) > 0 and found * over * wide == 1, "a charge is wrong")
    return found


class DeclaredCertificate:
    """A certificate of a declaration."""

    def __init__(self, data: Any) -> None:
        self.arms, self.horizon = _whole(data["arms"], 1), _whole(data["horizon"], 1)
        self.worst, self.states = ZERO, data["states"]
        self.size = dict(walk=self._walk, chains=self._chains, tree=self._tree)[data["kind"]]()

    def _released(self, paid: dict[int, Fraction], release: Any, most: int) -> dict[int, Fraction]:
        """Return an arm's charges by row, as changes, after a release [first, stop, *noise]."""
        first, stop = _whole(release[0], 0), _whole(release[1], 1, most + 1)
        _require(first < stop, "a release of no rows")
        _require(release[2] != "response" or stop == first + 1, "a response to several rows")
        charge, paid = _charge(*release[2:]), dict(paid)
        for row, change in ((first, charge), (stop, -charge)):
            paid[row] = paid.get(row, ZERO) + change
        total = ZERO
        for row in sorted(paid):
            total += paid[row]
            self.worst = max(self.worst, total)
        return {row: change for row, change in paid.items() if change}

    def _walk(self) -> str:
        """Follow every answer from every state; equal states must have equal pulls and charges."""
        places: dict[int, Any] = {0: (0, (0,) * self.arms, ({},) * self.arms)}
        for own, (name, stated, *asked) in enumerate(self.states):
            time, pulls, paid = places[own]  # where no path leads there is no place
            _require(stated == sum(pulls) == time, f"state {own}: another time")
            *what, after = asked
            if name == "play":
                arm, rounds = _whole(what[0], 0, self.arms), _whole(what[1], 1)
                time += rounds
                pulls = (*pulls[:arm], pulls[arm] + rounds, *pulls[arm + 1 :])
                outcomes = int(time < self.horizon)
            elif name == "release":
                arm, outcomes = _whole(what[0], 0, self.arms), 1
                changed = self._released(paid[arm], what[1:], pulls[arm])
                paid = (*paid[:arm], changed, *paid[arm + 1 :])
            elif name == "stop":
                outcomes = 0 * _whole(what[0], 0, self.arms)
            elif name == "toss":
                chances = list(map(_fraction, what[0]))
                _require(min(chances) >= 0 and sum(chances) == 1, f"state {own}: no chances")
                outcomes = sum(chance > 0 for chance in chances)
            else:
                known = {_whole(arm, 0, self.arms) for arm in what[0]}
                _require(len(known) == len(what[0]) > 0, f"state {own}: an arm twice, or none")
                _require(name in ("choose", "keep"), f"state {own}: {name!r} is no request")
                outcomes = len(known) if name == "choose" else 2 ** len(known) - 1
            _require(len(after) == outcomes, f"state {own}: an answer is missing")
            for to in after:
                here = places.setdefault(_whole(to, own + 1, len(self.states)), (time, pulls, paid))
                _require(here == (time, pulls, paid), f"state {to}: paths that differ meet")
        _require(len(places) == len(self.states), "it has no states")
        return f"{len(places):,} public states"

    def _most(self, arm: int) -> int:
        """Return the largest count at which an arm can release before the last round."""
        return max(self.horizon - self.arms, int(arm + 1 < self.horizon))

    def _chains(self) -> str:
        """Add up the releases of every arm, until the next episode ends too late."""
        _require(len(self.states) == self.arms, "an arm is missing")
        for arm, (episodes, following) in enumerate(self.states):
            count, paid = 0, dict[int, Fraction]()
            for begun, rounds, *release in (*episodes, following):
                _require(begun == count and (begun or rounds == 1), f"arm {arm}: another episode")
                count += _whole(rounds, 1)
                early = count <= self._most(arm)
                _require(early == bool(release), f"arm {arm}: an episode is missing or too late")
                paid = self._released(paid, release, count) if early else paid
            _require(not early, f"arm {arm}: its chain stops before the horizon")
        return f"{sum(len(episodes) for episodes, _ in self.states):,} releases of all arms' chains"

    def _tree(self) -> str:
        """Count the nodes over a row: one of each size at most, and the first row has them all."""
        self.worst = self._most(0).bit_length() * _charge(*self.states)
        return f"{self._most(0).bit_length()} levels of every arm's tree"


class CertificateState:
    """A state of code; a scale of 0 is that of a draw that cannot be shifted."""

    def __init__(self, data: Any) -> None:
        self.time, self.scales = _whole(data["time"], 0), _scales(data["scales"])
        self.constraints = [(str(p), _weights(d), _weights(r)) for p, d, r in data["constraints"]]
        self.columns = {name: _column(*it) for name, it in data["columns"].items()}
        self.spent, self.base = _weights(data["spent"]), _weights(data["base"])
        self.owed = {name: _weights(shift) for name, shift in data["owed"].items()}
        self.reached, self.paid, self.traces = Weights(), Weights(), list[Trace]()
        self.arrivals = 0

    def implies(self, draws: Weights, rows: Weights) -> bool:
        """Tell whether a constraint is a combination of this state's, found by their pivots."""
        left = {("d", n): w for n, w in draws.items()} | {("r", n): w for n, w in rows.items()}
        for pivot, own, right in self.constraints:
            factor = left.get(("d", pivot), ZERO) / own[pivot]
            for kind, weights in (("d", own), ("r", right)):
                for name, weight in weights.items():
                    left[kind, name] = left.get((kind, name), ZERO) - factor * weight
        return not any(left.values())

    def owes(self) -> Fraction:
        """Return the largest total of a row if the run ended here."""
        for name, shift in self.owed.items():
            for _, draws, rows in self.constraints:
                left = sum((w * shift.get(d, ZERO) for d, w in draws.items()), ZERO)
                _require(left == rows.get(name, ZERO), "an owed shift solves no constraint")
        bound = {name for _, _, rows in self.constraints for name in rows}
        _require(bound <= self.owed.keys() & self.columns.keys(), "a bound row has no shift")
        totals = dict(self.base)
        for name, (owner, reach) in self.columns.items():
            cost = self.spent.get(name, ZERO) + _price(self.owed.get(name, {}), self.scales)
            totals[owner] = totals.get(owner, ZERO) + reach * cost
        return max(totals.values(), default=ZERO)


def _scales(data: Any) -> Weights:
    found = {name: ZERO if value is None else _fraction(value) for name, value in data.items()}
    _require(all(found[n] > 0 for n, value in data.items() if value), "a scale is not positive")
    return found


def _column(owner: Any, reach: Any) -> tuple[str, Fraction]:
    _require(_fraction(reach) >= 0, "a reach is negative")
    return str(owner), _fraction(reach)


def _price(shift: Weights, scales: Weights) -> Fraction:
    _require(all(scales[draw] for draw in shift), "a draw cannot be shifted")
    return sum((abs(s) / scales[draw] for draw, s in shift.items()), ZERO)


class CertificateMove:
    """A move of code from a state to one that comes later; a name that is unknown is a KeyError."""

    def __init__(self, data: Any, before: CertificateState, after: CertificateState) -> None:
        self.before, self.after, new = before, after, _scales(data["scales"])
        _require(not new.keys() & before.scales.keys(), "a draw is not new")
        self.scales, self.columns = before.scales | new, dict(before.columns)
        owners = {owner for owner, _ in before.columns.values()} | set(data["columns"])
        for name, (owner, reach) in data["columns"].items():
            self.columns[name] = _, far = _column(owner, reach)
            fits = name not in before.columns and owner in owners and (owner != name or far == 1)
            _require(fits, f"row {name} is no new reward in [0, 1]")
        self.shifts = {name: _weights(shift) for name, shift in data["shifts"].items()}
        self.rows, self.draws = dict(data["rows_into"]), dict(data["draws_into"])
        _require(len(set(self.draws.values())) == len(self.draws), "two draws become one")
        for old, to in self.draws.items():
            _require(self.scales[old] == after.scales[to], f"draw {old} changes its scale")
        for old, to in self.rows.items():
            _require(self.columns[old][1] == after.columns[to][1], f"row {old} changes its reach")
        _require(set(self.rows.values()) == after.columns.keys(), "a row comes from nowhere")
        forms = [("", _weights(draws), _weights(rows)) for draws, rows in data["forms"]]
        for _, draws, rows in (*before.constraints, *forms):
            self._follows({d: w for d, w in draws.items() if self.scales[d]}, rows)
        self.ended = self._pay(data)

    def _follows(self, draws: Weights, rows: Weights) -> None:
        """Check what is left of a constraint once the shifts of draws that leave are fixed."""
        right: Weights = {}
        gone = [d for d in draws if d not in self.draws]
        for name in rows.keys() | self.shifts.keys() | self.rows.keys():
            shift = self.shifts.get(name, {})
            value = rows.get(name, ZERO) - sum((draws[d] * shift.get(d, ZERO) for d in gone), ZERO)
            if name not in self.rows:
                _require(value == 0, f"row {name} leaves unpaid")
                continue
            _require(right.setdefault(self.rows[name], value) == value, f"row {name} has no twin")
        left = {self.draws[d]: weight for d, weight in draws.items() if d in self.draws}
        _require(self.after.implies(left, right), "a constraint is lost")

    def _pay(self, data: Any) -> list[Fraction]:
        """Add up what columns have spent; return what rows that end have paid in all."""
        spent = {name: self.before.spent.get(name, ZERO) for name in self.columns}
        for name, shift in self.shifts.items():
            _require(not shift.keys() & self.draws.keys(), "a draw is fixed and stays")
            spent[name] += _price(shift, self.scales)
        for row, charge in data["coins"]:
            _require(_fraction(charge) >= 0, "a coin that pays")
            spent[row] += _fraction(charge)
        live, base = dict[str, list[str]](), dict(self.before.base)
        for name, (owner, reach) in self.columns.items():
            if name in self.rows:
                live.setdefault(owner, []).append(name)
            else:
                base[owner] = base.get(owner, ZERO) + reach * spent[name]
        ended = {owner: paid for owner, paid in base.items() if paid and owner not in live}
        _require(ended == _weights(data["ended"]), "a row ends with another charge")
        for owner, names in live.items():
            heirs = {self.rows[name]: self.after.columns[self.rows[name]][0] for name in names}
            heir, *others = set(heirs.values())
            _require(len(heirs) == len(names) and not others, f"row {owner} is torn apart")
            alone, kept = len(names) == 1 and self.columns[names[0]][1], base.get(owner, ZERO)
            for name in names:
                if total := spent[name] + (kept / alone if alone else 0):
                    to = self.rows[name]
                    self.after.reached[to] = max(self.after.reached.get(to, ZERO), total)
            if kept and not alone:
                self.after.paid[heir] = max(self.after.paid.get(heir, ZERO), kept)
        return list(ended.values())


class Code:
    """A certificate of code."""

    def __init__(self, data: Any) -> None:
        self.horizon, self.worst = _whole(data["horizon"], 1), ZERO
        states, start = list(map(CertificateState, data["states"])), CertificateState(EMPTY)
        for move in data["moves"]:
            after, first = states[_whole(move["after"], 0)], move["before"] is None
            before = start if first else states[_whole(move["before"], 0)]
            rounds = _whole(move["rounds"], 0 if first else 1)
            _require(before.time + rounds == after.time, "its rounds do not add up")
            after.arrivals += 1
            before.traces.append(tuple((int(taken), int(of)) for taken, of in move["trace"]))
            self.worst = max([self.worst, *CertificateMove(move, before, after).ended])
        for where, state in (("the beginning", start), *enumerate(states)):
            _require(state is start or state.arrivals > 0, f"state {where}: no move leads there")
            if state is start or state.time < self.horizon:
                _complete(state.traces, f"state {where}")
            _require(state.spent == state.reached, f"state {where}: spent something else")
            _require(state.base == state.paid, f"state {where}: paid something else")
            self.worst = max(self.worst, state.owes())
        paths = f"{len(data['moves']):,} stretches of paths between them"
        self.size = f"{len(states):,} states of the code and {paths}"


def _complete(traces: list[Trace], where: str) -> None:
    """Check that the outcomes of all branches are there: the traces are the leaves of a tree."""
    _require(bool(traces), f"{where}: no move")
    if traces == [()]:
        return
    _require(() not in traces, f"{where}: an outcome twice, or one that goes on")
    _require(len({trace[0][1] for trace in traces}) == 1, f"{where}: branches disagree")
    rest: dict[int, list[Trace]] = {}
    for trace in traces:
        rest.setdefault(trace[0][0], []).append(trace[1:])
    _require(rest.keys() == set(range(traces[0][0][1])), f"{where}: an outcome is missing")
    for later in rest.values():
        _complete(later, where)


def verify(data: Any) -> Code | DeclaredCertificate:
    """Return the checked certificate, or raise `Rejected`."""
    try:
        _require(isinstance(data, dict) and data.get("dpaudit") == "certificate", "no certificate")
        _require(data.get("schema") == SCHEMA, "of an unknown schema")
        _require(_whole(data["arms"], 1) > 0 and data["target"].isprintable(), "no target")
        epsilon, charge = _fraction(data["epsilon"]), _fraction(data["charge"])
        found = Code(data) if data["kind"] == "code" else DeclaredCertificate(data)
        _require(found.worst == charge, f"the charge is {found.worst}, not {charge}")
        most = epsilon * (1 + (SLACK if isinstance(found, Code) else ZERO))
        _require(charge <= most, "the charge is above epsilon")
    except Rejected:
        raise
    except Exception as error:
        raise Rejected(f"it is malformed ({type(error).__name__}: {error})") from None
    return found
