"""Proof scripts for steps whose method Coq needs in another form."""

from __future__ import annotations

_DIVERGENCE = """intros.
  assert (tangent : forall x, 0 < x -> ln x <= x - 1).
  { intros x positive. pose proof (exp_ineq1_le (ln x)). rewrite exp_ln in * by assumption. lra. }
"""
SCRIPTS = {
    "bg.log": "intros. pose proof (exp_ineq1_le (ln v_q)). rewrite exp_ln in * by assumption. lra.",
    "mm.optimal-gap": "intros. pose proof (exp_ineq1_le (-1 + v_y)). lra.",
}
