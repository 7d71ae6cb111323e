(** The Sequential Karwa-Vadhan Lemma, as repaired, for finite alphabets.

    A mechanism reports an event with probability f(w) on a word w of inputs. If changing one letter
    changes f by at most E f + d (E = exp(epsilon), d = delta), and the inputs are independent with
    laws P_i in one world and Q_i in the other, then

      mean P f <= prod A_i * mean Q f + d * sum_i p_i prod_{j<i} A_j,   A_i = 1 - p_i + p_i E,

    with p_i the total variation distance of P_i and Q_i: [sequential]. *)

Require Import Reals Lra List Arith Lia Psatz.
Import ListNotations.
Open Scope R_scope.

(** * Finite sums *)

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => sum k f + f k end.

Lemma sum_le : forall n f h, (forall z, (z < n)%nat -> f z <= h z) -> sum n f <= sum n h.
Proof.
  induction n; intros f h H; simpl; [lra |].
  assert (sum n f <= sum n h) by (apply IHn; intros; apply H; lia).
  assert (f n <= h n) by (apply H; lia). lra.
Qed.

Lemma sum_same : forall n f h, (forall z, (z < n)%nat -> f z = h z) -> sum n f = sum n h.
Proof. intros. apply Rle_antisym; apply sum_le; intros; rewrite H by assumption; lra. Qed.

Lemma sum_scale : forall n c f, sum n (fun z => c * f z) = c * sum n f.
Proof. induction n; intros c f; simpl; [lra |]. rewrite IHn. lra. Qed.

Lemma sum_plus : forall n f h, sum n (fun z => f z + h z) = sum n f + sum n h.
Proof. induction n; intros f h; simpl; [lra |]. rewrite IHn. lra. Qed.

Lemma sum_nonnegative : forall n f, (forall z, (z < n)%nat -> 0 <= f z) -> 0 <= sum n f.
Proof.
  intros n f H. replace 0 with (sum n (fun _ => 0)); [apply sum_le; exact H |].
  clear H. induction n; simpl; lra.
Qed.

(** * One input *)

Section Alphabet.

Variable k : nat.
Variables E d : R.
Hypothesis grows : 1 <= E.
Hypothesis slack : 0 <= d.

Definition is_law (P : nat -> R) : Prop :=
  (forall x, (x < k)%nat -> 0 <= P x) /\ sum k P = 1.

Definition excess (P Q : nat -> R) (x : nat) : R := Rmax (P x - Q x) 0.
Definition shared (P Q : nat -> R) (x : nat) : R := Rmin (P x) (Q x).
Definition distance (P Q : nat -> R) : R := sum k (excess P Q).

(** Values that are private weigh the same whatever they are averaged with, up to E and d. *)
Lemma cross : forall a b h,
  (forall x, (x < k)%nat -> 0 <= a x) -> (forall y, (y < k)%nat -> 0 <= b y) ->
  (forall x y, (x < k)%nat -> (y < k)%nat -> h x <= E * h y + d) ->
  sum k (fun x => a x * h x) * sum k b
  <= E * sum k a * sum k (fun y => b y * h y) + d * sum k a * sum k b.
Proof.
  intros a b h positive_a positive_b near.
  set (mass := sum k b). set (value := sum k (fun y => b y * h y)).
  assert (each : forall x, (x < k)%nat -> h x * mass <= E * value + d * mass).
  { intros x inside. unfold mass, value. rewrite <- !sum_scale. rewrite <- sum_plus.
    apply sum_le. intros y within. specialize (near x y inside within).
    specialize (positive_b y within). nra. }
  replace (sum k (fun x => a x * h x) * mass) with (sum k (fun x => mass * (a x * h x)))
    by (rewrite sum_scale; ring).
  replace (E * sum k a * value + d * sum k a * mass)
    with (sum k (fun x => (E * value + d * mass) * a x)) by (rewrite sum_scale; ring).
  apply sum_le. intros x inside. specialize (each x inside). specialize (positive_a x inside). nra.
Qed.

Lemma split_law : forall P Q h, sum k (fun x => P x * h x)
  = sum k (fun x => excess P Q x * h x) + sum k (fun x => shared P Q x * h x).
Proof.
  intros. rewrite <- sum_plus. apply sum_same. intros x _.
  unfold excess, shared, Rmax, Rmin. destruct (Rle_dec (P x - Q x) 0), (Rle_dec (P x) (Q x)); lra.
Qed.

Lemma shared_symmetric : forall P Q x, shared P Q x = shared Q P x.
Proof. intros. unfold shared. apply Rmin_comm. Qed.

Theorem one_input : forall P Q h, is_law P -> is_law Q ->
  (forall x, (x < k)%nat -> 0 <= h x) ->
  (forall x y, (x < k)%nat -> (y < k)%nat -> h x <= E * h y + d) ->
  let p := distance P Q in
  sum k (fun x => P x * h x) <= (1 - p + p * E) * sum k (fun x => Q x * h x) + p * d.
Proof.
  intros P Q h [positive_P total_P] [positive_Q total_Q] positive near p.
  assert (mass_shared : sum k (shared P Q) = 1 - p).
  { pose proof (split_law P Q (fun _ => 1)) as split.
    assert (unit : forall f, sum k (fun x => f x * 1) = sum k f)
      by (intro f; apply sum_same; intros; ring).
    rewrite !unit in split. unfold p, distance. lra. }
  assert (mass_lack : sum k (excess Q P) = p).
  { pose proof (split_law Q P (fun _ => 1)) as split.
    assert (unit : forall f, sum k (fun x => f x * 1) = sum k f)
      by (intro f; apply sum_same; intros; ring).
    rewrite !unit in split.
    assert (sum k (shared Q P) = sum k (shared P Q))
      by (apply sum_same; intros; symmetry; apply shared_symmetric). lra. }
  assert (positive_excess : forall A B x, 0 <= excess A B x)
    by (intros; unfold excess; apply Rmax_r).
  assert (positive_shared : forall x, (x < k)%nat -> 0 <= shared P Q x).
  { intros x inside. unfold shared. apply Rmin_glb; [apply positive_P | apply positive_Q]; auto. }
  rewrite (split_law P Q h). rewrite (split_law Q P h).
  rewrite (sum_same k (fun x => shared Q P x * h x) (fun x => shared P Q x * h x))
    by (intros; rewrite shared_symmetric; reflexivity).
  pose proof (cross (excess P Q) (excess Q P) h
    (fun x _ => positive_excess P Q x) (fun x _ => positive_excess Q P x) near) as first.
  pose proof (cross (excess P Q) (shared P Q) h
    (fun x _ => positive_excess P Q x) positive_shared near) as second.
  fold (distance P Q) in first, second. fold p in first, second.
  rewrite mass_lack in first. rewrite mass_shared in second.
  set (F := sum k (fun x => excess P Q x * h x)) in *.
  set (G := sum k (fun x => excess Q P x * h x)) in *.
  set (C := sum k (fun x => shared P Q x * h x)) in *.
  assert (0 <= G) by (apply sum_nonnegative; intros; apply Rmult_le_pos; auto).
  assert (0 <= C) by (apply sum_nonnegative; intros; apply Rmult_le_pos; auto).
  assert (0 <= p) by (apply sum_nonnegative; intros; apply positive_excess).
  assert (p <= 1).
  { assert (0 <= sum k (shared P Q)) by (apply sum_nonnegative; auto). lra. }
  assert (both : F <= E * p * (G + C) + p * d) by nra.
  destruct (Rle_lt_dec (p * C) ((1 - p) * G)) as [light | heavy]; [nra |].
  assert (0 < p) by nra.
  assert (F <= E * G + p * d) by (apply Rmult_le_reg_r with p; nra).
  nra.
Qed.

(** * Many inputs *)

Definition letters (w : list nat) : Prop := Forall (fun x => (x < k)%nat) w.

Definition is_private (n : nat) (f : list nat -> R) : Prop :=
  (forall w, letters w -> length w = n -> 0 <= f w) /\
  (forall u x y v, letters (u ++ x :: y :: v) -> (length u + S (length v) = n)%nat ->
    f (u ++ x :: v) <= E * f (u ++ y :: v) + d).

Fixpoint mean (laws : list (nat -> R)) (f : list nat -> R) : R :=
  match laws with
  | [] => f []
  | P :: rest => sum k (fun x => P x * mean rest (fun w => f (x :: w)))
  end.

Fixpoint growth (Ps Qs : list (nat -> R)) : R :=
  match Ps, Qs with
  | P :: Ps, Q :: Qs => (1 - distance P Q + distance P Q * E) * growth Ps Qs
  | _, _ => 1
  end.

Fixpoint extra (Ps Qs : list (nat -> R)) : R :=
  match Ps, Qs with
  | P :: Ps, Q :: Qs =>
      distance P Q + (1 - distance P Q + distance P Q * E) * extra Ps Qs
  | _, _ => 0
  end.

Lemma private_after : forall n f x, (x < k)%nat -> is_private (S n) f ->
  is_private n (fun w => f (x :: w)).
Proof.
  intros n f x inside [positive near]. split.
  - intros w good size. apply positive; [constructor; assumption | simpl; lia].
  - intros u a b v good size. apply (near (x :: u) a b v); [constructor; assumption | simpl; lia].
Qed.

Lemma mean_nonnegative : forall laws f, Forall is_law laws -> is_private (length laws) f ->
  0 <= mean laws f.
Proof.
  induction laws as [| P rest IH]; simpl; intros f good private.
  - apply private; [constructor | reflexivity].
  - inversion good as [| ? ? [positive _] others]; subst. apply sum_nonnegative. intros x inside.
    apply Rmult_le_pos; [apply positive; assumption |].
    apply IH; [assumption | apply private_after; assumption].
Qed.

(** Averaging over the later inputs keeps the dependence on an earlier letter. *)
Lemma mean_near : forall laws f h, Forall is_law laws ->
  (forall w, letters w -> length w = length laws -> f w <= E * h w + d) ->
  mean laws f <= E * mean laws h + d.
Proof.
  induction laws as [| P rest IH]; simpl; intros f h good near.
  - apply near; [constructor | reflexivity].
  - inversion good as [| ? ? [positive one] others]; subst.
    replace d with (d * sum k P) by (rewrite one; ring).
    rewrite <- !sum_scale. rewrite <- sum_plus. apply sum_le. intros x inside.
    assert (mean rest (fun w => f (x :: w)) <= E * mean rest (fun w => h (x :: w)) + d).
    { apply IH; [assumption |]. intros w fine size. apply near; [constructor; assumption | simpl; lia]. }
    specialize (positive x inside). nra.
Qed.

Theorem sequential : forall Ps Qs f, length Ps = length Qs ->
  Forall is_law Ps -> Forall is_law Qs -> is_private (length Ps) f ->
  mean Ps f <= growth Ps Qs * mean Qs f + d * extra Ps Qs.
Proof.
  induction Ps as [| P Ps IH]; intros [| Q Qs] f same good_P good_Q private;
    simpl in same; try discriminate; simpl.
  - lra.
  - inversion good_P as [| ? ? law_P laws_P]; inversion good_Q as [| ? ? law_Q laws_Q]; subst.
    injection same as same.
    set (p := distance P Q). set (A := 1 - p + p * E).
    assert (0 <= p) by (apply sum_nonnegative; intros; unfold excess; apply Rmax_r).
    assert (1 <= A) by (unfold A; nra).
    assert (outer : sum k (fun x => P x * mean Ps (fun w => f (x :: w)))
                    <= A * sum k (fun x => Q x * mean Ps (fun w => f (x :: w))) + p * d).
    { apply one_input; try assumption.
      - intros x inside. apply mean_nonnegative; [assumption | apply private_after; assumption].
      - intros x y inside within. apply mean_near; [assumption |]. intros w fine size.
        apply (proj2 private [] x y w); [repeat constructor; assumption | simpl; lia]. }
    assert (inner : sum k (fun x => Q x * mean Ps (fun w => f (x :: w)))
                    <= growth Ps Qs * sum k (fun x => Q x * mean Qs (fun w => f (x :: w)))
                       + d * extra Ps Qs).
    { replace (d * extra Ps Qs) with ((d * extra Ps Qs) * sum k Q)
        by (rewrite (proj2 law_Q); ring).
      rewrite <- !sum_scale. rewrite <- sum_plus. apply sum_le. intros x inside.
      assert (mean Ps (fun w => f (x :: w))
              <= growth Ps Qs * mean Qs (fun w => f (x :: w)) + d * extra Ps Qs)
        by (apply IH; auto; apply private_after; assumption).
      pose proof (proj1 law_Q x inside). nra. }
    fold A. nra.
Qed.

End Alphabet.

Print Assumptions sequential.
