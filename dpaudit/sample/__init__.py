"""The statistical auditor: real runs at full size; it may refute or stay silent, never prove."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["short_audit"]

if TYPE_CHECKING:
    from dpaudit.sample.audit import short_audit


def __getattr__(name: str) -> Any:
    """Import on first use, so that the command line stays fast."""
    if name == "short_audit":
        import importlib

        return importlib.import_module("dpaudit.sample.audit").short_audit
    raise AttributeError(f"module 'dpaudit.sample' has no attribute {name!r}")
