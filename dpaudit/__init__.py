"""dpaudit: does a bandit algorithm that claims differential privacy really have it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["assert_global_dp", "load"]

if TYPE_CHECKING:
    from dpaudit.target import load
    from dpaudit.testing import assert_global_dp


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import dpaudit` and `--help` stay fast."""
    if name == "load":
        from dpaudit.target import load

        return load
    if name == "assert_global_dp":
        from dpaudit.testing import assert_global_dp

        return assert_global_dp
    raise AttributeError(f"module 'dpaudit' has no attribute {name!r}")
