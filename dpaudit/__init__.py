"""dpaudit: does a bandit algorithm that claims differential privacy really have it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["load"]

if TYPE_CHECKING:
    from dpaudit.core.algorithms import load


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import dpaudit` and `--help` stay fast."""
    if name == "load":
        from dpaudit.core.algorithms import load

        return load
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
