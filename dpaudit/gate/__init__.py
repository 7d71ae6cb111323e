"""The regression gate: locked claims, judged again at the same sizes and seeds, and compared."""
