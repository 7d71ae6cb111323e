"""Passes of the certified search: precision that doubles, or cells that grow finer."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from flint import ctx

from dpaudit.errors import Unsupported
from dpaudit.exact.balls.cells import Cells
from dpaudit.exact.balls.certified import FIRST_PRECISION, LAST_PRECISION
from dpaudit.exact.schedule import Chain
from dpaudit.exact.search import Pass, Shared

# cells of a grid's smooth stretches, and mesh points per unit of own sum, in the first pass and at
# most: widths are of second order in both
FIRST_PASS, FINEST = (600, 128), (20_000, 4096)


@dataclass
class Precise:
    """Passes in balls: more bits where they are wide, then bisected maxima if there are any."""

    build: Callable[[list[int], bool], Pass]
    narrows: bool
    precision: int = FIRST_PRECISION
    narrow: bool = False

    def __call__(self, active: list[int], excess: float | None) -> Pass | None:
        """Open the next pass."""
        if excess == math.inf:
            self.precision *= 2
            if self.precision > LAST_PRECISION:
                raise Unsupported(f"The balls stay wide at {LAST_PRECISION} bits.")
        elif excess is not None:
            if self.narrow or not self.narrows:
                return None
            self.narrow = True
        with self.working():
            return self.build(active, self.narrow)

    def working(self, _: Pass | None = None) -> AbstractContextManager[Any]:
        """Return the context in which a pass is looked at."""
        found: AbstractContextManager[Any] = ctx.workprec(self.precision)
        return found


@dataclass
class Gridded:
    """Passes on cells, as fine as the last enclosure asks for."""

    chains: list[Chain]
    whole: bool
    cells: int = FIRST_PASS[0]
    mesh: int = FIRST_PASS[1]
    known: dict[int, Any] = field(default_factory=dict)

    def __call__(self, active: list[int], excess: float | None) -> Pass | None:
        """Open the next pass."""
        if excess is not None:
            if (self.cells, self.mesh) == FINEST:
                return None
            wanted = math.sqrt(2 * min(excess, 1e6))
            cells = math.ceil(self.cells * min(max(wanted, 1.5), 3.0))
            mesh = self.mesh * 2 ** min(max(math.ceil(math.log2(wanted)), 1), 3)
            self.cells, self.mesh = min(cells, FINEST[0]), min(mesh, FINEST[1])
        chosen = [self.chains[number] for number in active]
        mesh = 1 if self.whole else self.mesh
        return Shared(Cells(chosen, self.cells, mesh, known=self.known), self.chains)
