"""Regret bounds of private bandits: what privacy must cost, as numbers."""
