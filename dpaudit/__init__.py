"""dpaudit: does a bandit algorithm that claims differential privacy really have it?"""

from __future__ import annotations

__version__ = "0.1.0"
