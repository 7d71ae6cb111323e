"""The proof quotes the code it speaks of; it must be read again when that code changes."""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from pathlib import Path

import pytest

PROOFS = [Path(__file__).parents[2] / "proofs" / f"{name}.md" for name in ("structure", "doubles")]
PROOF = PROOFS[0]


def quotes(proof: Path) -> list[tuple[str, str, str]]:
    return re.findall(r"^```python (\S+):(\S+)\n(.*?)^```$", proof.read_text(), re.M | re.S)


QUOTES = [quote for proof in PROOFS for quote in quotes(proof)]


def source(module: str, name: str) -> str:
    found = importlib.import_module(module)
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
        found = found.fget if isinstance(found, property) else found
    return textwrap.dedent(inspect.getsource(found))


@pytest.mark.parametrize(
    ("module", "name", "quote"), QUOTES, ids=[f"{m}:{n}" for m, n, _ in QUOTES]
)
def test_the_proof_quotes_the_real_source(module, name, quote):
    assert quote == source(module, name), (
        f"{module}:{name} has changed under the proof that quotes it: "
        "check that the argument still holds, then quote the new source"
    )


def test_every_part_of_the_argument_is_quoted():
    quoted = {name for _, name, _ in QUOTES}
    needed = {"interpret", "decide", "charge_of", "Walk.visit", "Walk.run", "Walk.visit_again"}
    needed |= {"add", "Place.after", "Place.rows", "Node.key", "Walk.covered", "requested"}
    assert quoted >= needed | {"Episodes.step", "released", "total", "DPUCB.release", "deepest_row"}
    assert quoted >= {"shift_of", "_most_losses", "_newton_from_right", "monotone_upper_bound"}
    assert quoted >= {"on_grid", "laplace", "rounded", "whole_sum", "Place.drawn_on_grid"}
    for proof in PROOFS:
        assert proof.read_text().count("```") == 2 * len(quotes(proof))
