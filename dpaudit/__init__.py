"""dpaudit: does a bandit algorithm that claims differential privacy really have it?

    import dpaudit
    dpaudit.check("adap_klucb", epsilon=1)      # prove, hold or refute; a report
    dpaudit.check("mine.py:Mine")               # one's own declaration, or one's own code

`check`, `audit`, `simulate`, `bounds` are the commands of the same names; `prove` is the part of
`check` that proves (the command `prove` is about the paper). `load` builds an algorithm,
`likelihood` and `worst_loss` compute with it, `assert_global_dp` is for tests.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "assert_global_dp",
    "audit",
    "bounds",
    "check",
    "likelihood",
    "load",
    "prove",
    "simulate",
    "worst_loss",
]

if TYPE_CHECKING:
    from dpaudit.exact.likelihood import likelihood
    from dpaudit.exact.worst import worst_loss
    from dpaudit.surface import audit, bounds, check, prove, simulate
    from dpaudit.target import load
    from dpaudit.testing import assert_global_dp

_HOMES = {
    "assert_global_dp": "testing",
    "likelihood": "exact",
    "load": "target",
    "worst_loss": "exact",
}
_PACKAGES = ("core", "exact", "sample", "structure")


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import dpaudit` and `--help` stay fast."""
    if name in __all__:
        home = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'surface')}")
        return getattr(home, name)
    if name in _PACKAGES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return what there is to use, without what is only machinery."""
    return sorted([*__all__, *_PACKAGES, "__version__", "__doc__"])
