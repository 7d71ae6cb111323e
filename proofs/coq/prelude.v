(** Tactics for the statements that are generated from the ledger. *)

Require Export Reals Lra Psatz.
From Coquelicot Require Export Coquelicot.
From Interval Require Export Tactic.
Open Scope R_scope.

(** A function with a non-negative derivative between [a] and [b] does not fall. *)
Lemma rises : forall (f df : R -> R) (a b : R), a <= b ->
  (forall t, a <= t <= b -> is_derive f t (df t)) ->
  (forall t, a < t < b -> 0 <= df t) -> f a <= f b.
Proof.
  intros f df a b order derive sign.
  destruct (Req_dec a b) as [same | apart]; [subst; lra |].
  assert (strict : a < b) by lra.
  destruct (MVT_cor2 f df a b strict) as [c [value [low high]]].
  - intros t between. apply is_derive_Reals. apply derive. exact between.
  - assert (0 <= df c * (b - a)) by (apply Rmult_le_pos; [apply sign; lra | lra]). lra.
Qed.

Lemma sinh_nonnegative : forall x, 0 <= x -> 0 <= sinh x.
Proof.
  intros x positive. unfold sinh.
  assert (exp (- x) <= exp x) by (destruct positive; [left; apply exp_increasing; lra | subst; rewrite Ropp_0; lra]).
  lra.
Qed.

(** The tangents of the exponentials in the goal. *)
Ltac tangents :=
  repeat match goal with
         | |- context [exp ?x] =>
             lazymatch goal with
             | H : 1 + x <= exp x |- _ => fail
             | _ => pose proof (exp_ineq1_le x); pose proof (exp_pos x)
             end
         end.

(** The sign of an expression, read off its shape. *)
Ltac sign :=
  match goal with
  | |- 0 <= _ => solve [lra | interval | tangents; lra]
  | |- 0 < _ => solve [lra | interval | tangents; lra]
  | |- 0 <= ?x ^ 2 => apply pow2_ge_0
  | |- 0 <= ?x * ?x => apply Rle_0_sqr
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < PI => apply PI_RGT_0
  | |- 0 <= sinh _ => apply sinh_nonnegative; sign
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 < sqrt _ => apply sqrt_lt_R0; sign
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; sign
  | |- 0 < _ + _ => solve [apply Rplus_lt_0_compat; sign | apply Rplus_le_lt_0_compat; sign
                          | apply Rplus_lt_le_0_compat; sign]
  | |- 0 <= _ * _ => apply Rmult_le_pos; sign
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; sign
  | |- 0 <= / _ => left; apply Rinv_0_lt_compat; sign
  | |- 0 < / _ => apply Rinv_0_lt_compat; sign
  | |- 0 <= _ / _ => unfold Rdiv; apply Rmult_le_pos; sign
  | |- 0 < _ / _ => unfold Rdiv; apply Rmult_lt_0_compat; sign
  | |- 0 < _ ^ _ => apply pow_lt; sign
  | |- 0 <= _ ^ _ => apply pow_le; sign
  | |- 0 <= _ => solve [nra | tangents; lra | tangents; nra]
  | |- 0 < _ => solve [nra | tangents; lra | tangents; nra]
  end.

Lemma falls : forall (f df : R -> R) (a b : R), a <= b ->
  (forall t, a <= t <= b -> is_derive f t (df t)) ->
  (forall t, a < t < b -> 0 <= - df t) -> f b <= f a.
Proof.
  intros f df a b order derive sign.
  destruct (Req_dec a b) as [same | apart]; [subst; lra |].
  assert (strict : a < b) by lra.
  destruct (MVT_cor2 f df a b strict) as [c [value [low high]]].
  - intros t between. apply is_derive_Reals. apply derive. exact between.
  - assert (0 <= - df c * (b - a)) by (apply Rmult_le_pos; [apply sign; lra | lra]). lra.
Qed.

(** What remains of [field] and [auto_derive]: denominators and arguments of logarithms. *)
Ltac side :=
  repeat match goal with |- _ /\ _ => split | |- True => exact I end;
  try assumption;
  try solve [lra | nra | sign | apply Rgt_not_eq; unfold Rgt; sign | apply Rlt_not_eq; sign
            | apply Rgt_not_eq; nra | apply Rlt_not_eq; nra ].

(** Hyperbolic functions and negative exponents in terms of [exp]. *)
Ltac plain := unfold tanh, sinh, cosh; rewrite ?exp_Ropp.

(** An equality of rational expressions in the variables, exponentials and roots. *)
Ltac same := plain; field_simplify_eq; [try ring; try nra | side ..].

(** The value at an end of the interval. *)
Ltac ends :=
  unfold tanh, sinh, cosh; rewrite ?Ropp_0, ?exp_Ropp, ?Rmult_0_l, ?Rmult_0_r, ?exp_0, ?ln_1;
  first [ lra | solve [right; field; side] | solve [right; same] | sign ].

(** Kinks, one by one. *)
Ltac kinks :=
  unfold Rmax, Rmin, Rabs;
  repeat match goal with
         | |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b)
         | |- context [Rcase_abs ?a] => destruct (Rcase_abs a)
         end; lra.
