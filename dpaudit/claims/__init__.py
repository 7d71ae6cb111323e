"""Claims: an inequality on a stated domain, checked until something is certain or honestly not.

A claim ends as proved, certified, an identity, restricted, refuted, enumerated or sampled (on
models), granted (a theorem of the literature) or unresolved.
The derivations of the paper, one file per result, lie in `proofs/`.
"""

from __future__ import annotations
