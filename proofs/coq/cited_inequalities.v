(** Inequalities that the lower bounds cite, for laws on finite sets: Markov, post-processing,
    log-sum and Bretagnolle-Huber. *)

Require Import Reals Lra List Arith Lia Psatz.
From Ledger Require Import karwa_vadhan_lemma kl_decomposition_theorem.
Open Scope R_scope.

Section Finite.

Variable k : nat.

(** E X >= c P(X >= c) for every X >= 0 and c > 0. *)
Theorem markov : forall P X c, is_law k P -> (forall x, (x < k)%nat -> 0 <= X x) -> 0 < c ->
  c * sum k (fun x => if Rle_dec c (X x) then P x else 0) <= sum k (fun x => P x * X x).
Proof.
  intros P X c [positive _] low above. rewrite <- sum_scale. apply sum_le. intros x inside.
  specialize (positive x inside). specialize (low x inside). destruct (Rle_dec c (X x)); nra.
Qed.

(** A channel applied to the output keeps the ratio of two laws below its bound. *)
Theorem post_processing : forall P Q channel E, (forall x, (x < k)%nat -> P x <= E * Q x) ->
  (forall x z, (x < k)%nat -> 0 <= channel x z) ->
  forall z : nat, sum k (fun x => P x * channel x z) <= E * sum k (fun x => Q x * channel x z).
Proof.
  intros P Q channel E ratio low z. rewrite <- sum_scale. apply sum_le. intros x inside.
  specialize (ratio x inside). specialize (low x z inside). nra.
Qed.

Lemma bounded_self : forall p q, 0 <= p -> 0 < q -> bounded p q (divergence p q).
Proof.
  intros p q low above t inside. unfold divergence. destruct (Rle_dec p 0) as [none | some].
  - assert (p = 0) by lra. subst p. nra.
  - assert (positive : 0 < p) by lra.
    assert (0 < t * q / p) by (apply Rdiv_lt_0_compat; [apply Rmult_lt_0_compat |]; assumption).
    pose proof (tangent (t * q / p) H) as near.
    replace (t * q / p) with (t * / (p / q)) in near at 1 by (field; lra).
    assert (0 < p / q) by (apply Rdiv_lt_0_compat; assumption).
    rewrite ln_mult in near by (assumption || (apply Rinv_0_lt_compat; assumption)).
    rewrite ln_Rinv in near by assumption.
    assert (scaled : p * (ln t + - ln (p / q)) <= p * (t * q / p - 1))
      by (apply Rmult_le_compat_l; lra).
    replace (p * (t * q / p - 1)) with (t * q - p) in scaled by (field; lra). lra.
Qed.

(** (sum p) ln(sum p / sum q) <= sum p ln(p / q). *)
Theorem log_sum : forall p q, (forall x, (x < k)%nat -> 0 <= p x) ->
  (forall x, (x < k)%nat -> 0 < q x) -> 0 <= sum k (fun x => divergence (p x) (q x)) ->
  divergence (sum k p) (sum k q) <= sum k (fun x => divergence (p x) (q x)).
Proof.
  intros p q low above total. apply bounded_divergence.
  - apply sum_nonnegative. assumption.
  - apply sum_nonnegative. intros x inside. left. apply above. assumption.
  - assumption.
  - apply bounded_sum. intros x inside. apply bounded_self; auto.
Qed.

(** (sum u v)^2 <= sum u^2 sum v^2. *)
Theorem cauchy : forall u v, sum k (fun x => u x * v x) * sum k (fun x => u x * v x)
  <= sum k (fun x => u x * u x) * sum k (fun x => v x * v x).
Proof.
  intros u v. set (U := sum k (fun x => u x * u x)). set (V := sum k (fun x => v x * v x)).
  set (C := sum k (fun x => u x * v x)).
  assert (square : forall s, 0 <= U - 2 * s * C + s * s * V).
  { intro s. replace (U - 2 * s * C + s * s * V)
      with (sum k (fun x => (u x - s * v x) * (u x - s * v x))).
    - apply sum_nonnegative. intros. apply Rle_0_sqr.
    - rewrite (sum_same k _ (fun x => (u x * u x + (- (2 * s)) * (u x * v x)) + (s * s) * (v x * v x)))
        by (intros; ring).
      rewrite !sum_plus, !sum_scale. fold U V C. ring. }
  assert (0 <= V) by (apply sum_nonnegative; intros; apply Rle_0_sqr).
  destruct (Req_dec V 0) as [none | some].
  - assert (C = 0); [| rewrite none; nra]. unfold C.
    assert (zero : forall x, (x < k)%nat -> v x * v x = 0)
      by (apply sum_zero; [intros; apply Rle_0_sqr | exact none]).
    rewrite (sum_same k _ (fun x => 0 * u x)); [rewrite sum_scale; ring |].
    intros x inside. assert (v x = 0) by (specialize (zero x inside); nra). rewrite H0. ring.
  - specialize (square (C / V)). assert (0 < V) by lra.
    replace (U - 2 * (C / V) * C + C / V * (C / V) * V) with ((U * V - C * C) / V) in square
      by (field; lra).
    assert (0 <= (U * V - C * C) / V * V) by (apply Rmult_le_pos; lra).
    replace ((U * V - C * C) / V * V) with (U * V - C * C) in H1 by (field; lra). lra.
Qed.

Definition larger (P Q : nat -> R) (x : nat) : R := Rmax (P x) (Q x).

Theorem bretagnolle_huber : forall P Q (event : nat -> bool), is_law k P -> is_law k Q ->
  (forall x, (x < k)%nat -> 0 < Q x) ->
  exp (- sum k (fun x => divergence (P x) (Q x))) / 2
  <= sum k (fun x => if event x then P x else 0) + sum k (fun x => if event x then 0 else Q x).
Proof.
  intros P Q event [low_P total_P] [low_Q total_Q] above.
  set (KL := sum k (fun x => divergence (P x) (Q x))).
  set (m := sum k (shared P Q)). set (S := sum k (fun x => sqrt (P x * Q x))).
  assert (test : m <= sum k (fun x => if event x then P x else 0)
                     + sum k (fun x => if event x then 0 else Q x)).
  { rewrite <- sum_plus. apply sum_le. intros x inside. unfold shared.
    pose proof (Rmin_l (P x) (Q x)). pose proof (Rmin_r (P x) (Q x)). destruct (event x); lra. }
  assert (both : m + sum k (larger P Q) = 2).
  { unfold m. rewrite <- sum_plus. rewrite (sum_same k _ (fun x => P x + Q x)).
    - rewrite sum_plus. lra.
    - intros x _. unfold shared, larger, Rmin, Rmax. destruct (Rle_dec (P x) (Q x)); lra. }
  assert (overlap : S * S <= m * sum k (larger P Q)).
  { pose proof (cauchy (fun x => sqrt (shared P Q x)) (fun x => sqrt (larger P Q x))) as step.
    cbv beta in step.
    assert (low_shared : forall x, (x < k)%nat -> 0 <= shared P Q x)
      by (intros x inside; unfold shared; apply Rmin_glb; [apply low_P | apply low_Q]; assumption).
    assert (low_larger : forall x, (x < k)%nat -> 0 <= larger P Q x).
    { intros x inside. unfold larger. apply Rle_trans with (P x); [apply low_P; assumption | apply Rmax_l]. }
    rewrite (sum_same k (fun x => sqrt (shared P Q x) * sqrt (larger P Q x)) (fun x => sqrt (P x * Q x))) in step.
    - rewrite (sum_same k (fun x => sqrt (shared P Q x) * sqrt (shared P Q x)) (shared P Q)) in step
        by (intros; apply sqrt_sqrt; auto).
      rewrite (sum_same k (fun x => sqrt (larger P Q x) * sqrt (larger P Q x)) (larger P Q)) in step
        by (intros; apply sqrt_sqrt; auto).
      exact step.
    - intros x inside. rewrite <- sqrt_mult by auto. f_equal. unfold shared, larger, Rmin, Rmax.
      destruct (Rle_dec (P x) (Q x)); ring. }
  assert (some : 0 < S).
  { assert (0 <= S) by (apply sum_nonnegative; intros; apply sqrt_pos).
    destruct (Req_dec S 0) as [none |]; [| lra]. exfalso.
    assert (zero : forall x, (x < k)%nat -> sqrt (P x * Q x) = 0)
      by (apply sum_zero; [intros; apply sqrt_pos | exact none]).
    assert (sum k P = sum k (fun x => 0 * P x)).
    { apply sum_same. intros x inside. specialize (zero x inside).
      apply sqrt_eq_0 in zero;
        [| apply Rmult_le_pos; [apply low_P | left; apply above]; assumption].
      specialize (above x inside). nra. }
    rewrite sum_scale in H0. lra. }
  assert (jensen : 0 <= KL + 2 * ln S).
  { assert (each : sum k (fun x => 2 * P x + (- (2 / S)) * sqrt (P x * Q x))
                   <= sum k (fun x => divergence (P x) (Q x) + (2 * ln S) * P x)).
    { apply sum_le. intros x inside. specialize (low_P x inside). specialize (above x inside).
      unfold divergence. destruct (Rle_dec (P x) 0) as [none | positive].
      - assert (P x = 0) by lra. rewrite H. rewrite Rmult_0_l. rewrite sqrt_0. lra.
      - assert (0 < P x) by lra.
        set (w := sqrt (Q x / P x)).
        assert (0 < Q x / P x) by (apply Rdiv_lt_0_compat; assumption).
        assert (0 < w) by (apply sqrt_lt_R0; assumption).
        assert (root : P x * w = sqrt (P x * Q x)).
        { unfold w. rewrite <- (sqrt_square (P x)) at 1 by lra.
          rewrite <- sqrt_mult by nra. f_equal. field. lra. }
        assert (flat : ln (P x / Q x) = - (2 * ln w)).
        { assert (w * w = Q x / P x) by (apply sqrt_sqrt; lra).
          replace (P x / Q x) with (/ (w * w)) by (rewrite H2; field; lra).
          rewrite ln_Rinv by nra. rewrite ln_mult by assumption. ring. }
        rewrite flat. rewrite <- root.
        assert (0 < w / S) by (apply Rdiv_lt_0_compat; assumption).
        pose proof (tangent (w / S) H2) as near. unfold Rdiv in near.
        rewrite ln_mult in near by (assumption || (apply Rinv_0_lt_compat; assumption)).
        rewrite ln_Rinv in near by assumption.
        assert (scaled : 2 * P x * (ln w + - ln S) <= 2 * P x * (w * / S - 1))
          by (apply Rmult_le_compat_l; lra).
        unfold Rdiv. nra. }
    rewrite !sum_plus, !sum_scale in each. fold KL S in each. rewrite total_P in each.
    replace (- (2 / S) * S) with (- 2) in each by (field; lra). lra. }
  assert (exp (- KL) <= S * S).
  { apply Rle_trans with (exp (2 * ln S)).
    - destruct (Req_dec (- KL) (2 * ln S)) as [same | apart]; [rewrite same; lra |].
      left. apply exp_increasing. lra.
    - replace (2 * ln S) with (ln S + ln S) by ring. rewrite exp_plus, exp_ln by assumption. lra. }
  assert (0 <= m).
  { apply sum_nonnegative. intros x inside. unfold shared. apply Rmin_glb; auto. }
  nra.
Qed.

End Finite.

Print Assumptions bretagnolle_huber.
