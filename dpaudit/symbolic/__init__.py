"""The user's own code, run on symbols: what it releases, what that charges, and a proof of it.

Rewards are symbols r_i, draws are symbols z_j with their laws. A value is affine in both
(`values.Linear`) or a function of such forms (`values.Opaque`). Where the code branches on one,
every outcome is explored. On a path that depended on the forms A r + B z + c, a change of r_i by
delta is undone by the shift z - delta s with B s = A e_i, which costs sum |s_j| / scale_j
(`ledger`). The largest such charge over rows and paths bounds epsilon. `walk` merges equal states;
the stand-ins are an allowlist of what may meet a symbol; `guard` runs the real and the symbolic
code side by side.
"""
