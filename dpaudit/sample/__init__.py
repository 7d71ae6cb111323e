"""The statistical auditor: real runs at full size; it may refute or stay silent, never prove."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["audit", "short_audit"]

if TYPE_CHECKING:
    from dpaudit.sample.audit import audit, short_audit


def __getattr__(name: str) -> Any:
    """Import on first use, so that the command line stays fast."""
    if name in __all__:
        from dpaudit.sample import audit as module

        return getattr(module, name)
    raise AttributeError(f"module 'dpaudit.sample' has no attribute {name!r}")
