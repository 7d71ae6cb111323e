"""The shared core: what a private bandit is, and how it runs."""
