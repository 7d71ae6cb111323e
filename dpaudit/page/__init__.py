"""Verdicts as web pages: self-contained, readable without scripts, in light and in dark."""
