"""What is claimed: a notion of privacy, its level, and how many rewards a person has in the stream.

| kind          | flags                  | of every two streams that differ in `unit` rewards      |
|---------------|------------------------|---------------------------------------------------------|
| `pure`        | `--epsilon`            | no likelihood changes by more than a factor e^epsilon   |
| `zcdp`        | `--rho`                | Renyi divergences of order alpha are at most alpha rho  |
| `gdp`         | `--mu`                 | no test does better than N(0, 1) against N(mu, 1)       |
| `approximate` | `--epsilon`, `--delta` | P(E) <= e^epsilon Q(E) + delta for every event          |
| `local`       | `--local`, `--epsilon` | each reward is released alone, with loss <= epsilon     |

A `Tariff` says what one release costs a row under a notion, as a number that adds up over the
releases that contain the row. By the filter theorem (docs/notions.md) a bound on that sum over
every transcript is a guarantee: epsilon for pure and local, rho, mu^2 for Gaussian DP. Under
(epsilon, delta) charges do not add up: a row pays 1 for entering a release and the release's delta
on top, so that a total below 2 means one release, and its delta.

For groups a release that reads m of a person's rows moves m times as far. Its charge is split
evenly over these m, and a row pays the largest such part over m up to the unit; a group then pays
no more than its members do together, whichever of its rows each release reads.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dpaudit.core import conversions
from dpaudit.core.arithmetic import exact, in_digits
from dpaudit.core.conversions import Rate
from dpaudit.core.noise import Noise
from dpaudit.errors import InvalidArgument, require_integer, require_positive


class Kind(StrEnum):
    """The notions of privacy that a claim can be about."""

    PURE = "pure"
    ZCDP = "zcdp"
    GDP = "gdp"
    APPROXIMATE = "approximate"
    LOCAL = "local"

    @property
    def level(self) -> str:
        """The name of its first number, as a parameter and as a flag."""
        return {"zcdp": "rho", "gdp": "mu"}.get(self, "epsilon")

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all its numbers."""
        return (self.level, "delta") if self is Kind.APPROXIMATE else (self.level,)

    @property
    def claimed(self) -> str:
        """The notion as a claim without its numbers."""
        return {
            "pure": "epsilon-global DP",
            "zcdp": "rho-zCDP",
            "gdp": "mu-Gaussian DP",
            "approximate": "(epsilon, delta)-DP",
            "local": "epsilon-local DP",
        }[self]

    @property
    def described(self) -> str:
        """The notion in a few words."""
        return {
            "pure": "pure global DP",
            "zcdp": "zero-concentrated global DP",
            "gdp": "Gaussian global DP",
            "approximate": "approximate global DP",
            "local": "local DP",
        }[self]


MOST_UNIT = 1000


@dataclass(frozen=True)
class Notion:
    """A notion of privacy at a level, for the rewards of one person: `unit` of them at most."""

    kind: Kind
    level: float
    delta: float | None = None
    unit: int = 1

    def __post_init__(self) -> None:
        require_positive(self.kind.level, self.level)
        require_integer("unit", self.unit, 1)
        if self.unit > MOST_UNIT:
            raise InvalidArgument("unit", self.unit, f"must be at most {MOST_UNIT:,}.")
        if self.kind is not Kind.APPROXIMATE:
            if self.delta is not None:
                rule = f"belongs to epsilon, not to {self.kind.described}."
                raise InvalidArgument("delta", self.delta, rule)
            return
        if self.delta is None:
            raise InvalidArgument("delta", None, "is required by (epsilon, delta).")
        require_positive("delta", self.delta)
        if self.delta >= 1:
            raise InvalidArgument("delta", self.delta, "must be below 1.")

    @property
    def plain(self) -> bool:
        """Whether it is pure epsilon for one reward, which every check can judge."""
        return self.kind is Kind.PURE and self.unit == 1

    @property
    def numbers(self) -> dict[str, float]:
        """Its numbers by the names of their flags."""
        values = (self.level,) if self.delta is None else (self.level, self.delta)
        return dict(zip(self.kind.parameters, values, strict=True))

    @property
    def measure(self) -> str:
        """The number that is bounded: delta at an epsilon, or the level itself."""
        return self.kind.level if self.delta is None else "delta"

    @property
    def bound(self) -> float:
        """What that number may be at most."""
        return self.level if self.delta is None else self.delta

    def weaker_than(self, other: Notion) -> bool:
        """Whether it promises less than another, or something that does not compare."""
        if self.kind is not other.kind or self.unit < other.unit:
            return True
        return any(exact(self.numbers[n]) > exact(other.numbers[n]) for n in self.numbers)

    @property
    def neighbours(self) -> str:
        """What neighbouring streams differ in."""
        return f"{rewards(self.unit)} of the stream"

    @property
    def words(self) -> list[str]:
        """The words of a command line that state it."""
        flags = ["--local"] if self.kind is Kind.LOCAL else []
        for name, value in self.numbers.items():
            flags += [f"--{name}", repr(value).removesuffix(".0")]
        return flags + (["--unit", str(self.unit)] if self.unit > 1 else [])

    @property
    def texts(self) -> dict[str, str]:
        """All that it is, as texts."""
        numbers = {name: repr(value) for name, value in self.numbers.items()}
        return {"kind": str(self.kind), **numbers, "unit": str(self.unit)}

    def __str__(self) -> str:
        if self.delta is not None:
            said = f"(epsilon, delta) = ({in_digits(self.level)}, {in_digits(self.delta)})"
        else:
            said = f"{self.kind.level} = {in_digits(self.level)}"
        return said if self.unit == 1 else f"{said} for {rewards(self.unit)}"


@dataclass(frozen=True)
class Stated:
    """What a command line says of a claim; what it leaves out is the algorithm's own."""

    epsilon: float | None = None
    rho: float | None = None
    mu: float | None = None
    delta: float | None = None
    local: bool = False
    unit: int | None = None

    def __post_init__(self) -> None:
        given = [f"--{n}" for n in ("epsilon", "rho", "mu") if getattr(self, n) is not None]
        if len(given) > 1:
            rule = "exclude each other: a claim is about one notion."
            raise InvalidArgument("claim", " ".join(given), rule)
        if self.delta is not None and self.epsilon is None:
            rule = "belongs to an epsilon; give --epsilon as well."
            raise InvalidArgument("delta", self.delta, rule)
        kind = self.kind
        if self.local and kind is not Kind.LOCAL:
            other = "--delta" if self.delta is not None else given[0]
            raise InvalidArgument("claim", f"--local {other}", "exclude each other.")
        level = None if kind is None else getattr(self, kind.level)
        Notion(kind or Kind.PURE, 1.0 if level is None else level, self.delta, self.unit or 1)
        if self.unit is not None:
            require_integer("unit", self.unit, 1)

    @property
    def kind(self) -> Kind | None:
        """The notion that is stated; None where only the unit is, or nothing."""
        if self.rho is not None:
            return Kind.ZCDP
        if self.mu is not None:
            return Kind.GDP
        if self.delta is not None:
            return Kind.APPROXIMATE
        if self.local:
            return Kind.LOCAL
        return Kind.PURE if self.epsilon is not None else None

    @property
    def texts(self) -> dict[str, str]:
        """What is stated, as the texts of flags."""
        said = {name: value for name, value in vars(self).items() if value not in (None, False)}
        return {name: repr(value) for name, value in said.items()}

    @property
    def words(self) -> str:
        """What is stated, in the name of a claim."""
        return " ".join(f"{name}={text}" for name, text in sorted(self.texts.items()))

    def numbers(self, accepted: Collection[str]) -> dict[str, float]:
        """Return the parameters of an instance that these flags ask for, if it has them all.

        An algorithm's own parameter speaks of one reward; what a group is judged by is none.
        """
        if self.unit is not None and self.unit > 1:
            return {}
        values = {} if self.kind is None else {n: getattr(self, n) for n in self.kind.parameters}
        fits = all(name in accepted and value is not None for name, value in values.items())
        return values if fits else {}

    def judged(self, own: Notion | None) -> Notion:
        """Return the notion to judge: as stated, else the algorithm's own, else epsilon = 1."""
        unit, kind = self.unit or 1, self.kind
        if kind is None:
            return replace(own, unit=unit) if own else Notion(Kind.PURE, 1.0, unit=unit)
        level = getattr(self, kind.level)
        if level is None:
            level = own.level if own and own.kind.level == kind.level else 1.0
        return Notion(kind, level, self.delta, unit)


def read_notion(texts: Mapping[str, str]) -> Notion:
    """Return what `Notion.texts` wrote down; raise ValueError for anything else."""
    kind = Kind(texts.get("kind", ""))
    if texts.keys() != {"kind", "unit", *kind.parameters}:
        raise ValueError(f"a claim of {kind.described} states {', '.join(sorted(texts))}")
    return Notion(
        kind,
        float(texts[kind.level]),
        float(texts["delta"]) if "delta" in texts else None,
        int(texts["unit"]),
    )


def read_stated(texts: Mapping[str, str]) -> Stated:
    """Return what `Stated.texts` wrote down; raise ValueError for anything else."""
    readers: dict[str, Any] = {"local": lambda text: text == "True", "unit": int}
    unknown = texts.keys() - vars(Stated()).keys()
    if unknown:
        raise ValueError(f"a claim states {', '.join(sorted(unknown))}")
    return Stated(**{name: readers.get(name, float)(text) for name, text in texts.items()})


def rewards(unit: int) -> str:
    """Return how many rewards a person has, in words."""
    return "one reward" if unit == 1 else f"{unit} rewards"


@dataclass(frozen=True)
class Tariff:
    """What one release charges to a row under a notion, as a number that adds up."""

    kind: Kind = Kind.PURE
    unit: int = 1
    epsilon: Fraction = Fraction(0)
    """Where delta is charged, the epsilon that it belongs to."""

    def price(self, noise: Noise, sensitivity: Fraction, rows: int) -> Rate:
        """Return the charge of a release of so many rows, each of them this sensitive."""
        if self.kind is Kind.LOCAL and rows > 1:
            return math.inf
        members = range(1, min(self.unit, rows) + 1)
        return max(self._once(noise, size * sensitivity) / size for size in members)

    def worth(self, loss: Rate) -> Rate:
        """Return the charge of a release of one row that is known by its pure loss alone."""
        match self.kind:
            case Kind.ZCDP:
                return conversions.pure_to_zcdp(loss)
            case Kind.GDP:
                return conversions.pure_to_gdp(loss)
            case Kind.APPROXIMATE:
                return 1 + conversions.pure_to_delta(loss, self.epsilon)
        return loss

    def _once(self, noise: Noise, sensitivity: Fraction) -> Rate:
        match self.kind:
            case Kind.ZCDP:
                return noise.zcdp(sensitivity)
            case Kind.GDP:
                return noise.gdp(sensitivity)
            case Kind.APPROXIMATE:
                return 1 + noise.delta(sensitivity, self.epsilon)
        return noise.charge(sensitivity)


PURE = Tariff()


def tariff_of(notion: Notion) -> Tariff:
    """Return how the notion itself charges."""
    at = exact(notion.level) if notion.kind is Kind.APPROXIMATE else Fraction(0)
    return Tariff(notion.kind, notion.unit, at)
