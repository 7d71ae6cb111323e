"""Floating-point technologies, each with a stated error."""
