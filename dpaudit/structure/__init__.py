"""The structure check: charges per reward row from the declaration, for every transcript.

`prove(algorithm, horizon)` concludes PROVED with an exact bound, or stays silent and says why. It
never refutes: a row that is charged more than epsilon is not a violation by itself. The argument
lies in proofs/structure.md, which quotes the source of this package.
"""

from dpaudit.structure.prove import Bound, bound, prove

__all__ = ["Bound", "bound", "prove"]
