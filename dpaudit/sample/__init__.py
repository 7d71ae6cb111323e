"""The statistical auditor: real runs at full size; it may refute or stay silent, never prove."""

from dpaudit.sample.audit import short_audit

__all__ = ["short_audit"]
