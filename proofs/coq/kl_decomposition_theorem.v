(** The KL-divergence decomposition under global DP, as repaired (constant 1, every epsilon), for
    finitely many arms and rewards and every horizon.

    A policy that is epsilon-global DP meets two environments. Then the relative entropy of its two
    action laws is at most epsilon times the expected sum, over the rounds, of the total variation
    distance between the two reward laws of the arm that is played: [decomposition]. Their total
    variation distance is at most tanh(epsilon / 2) times the same: [decomposition_tv].

    x ln(x/w) is the largest of x ln t + x - t w over t > 0. [bounded x w B] says that none of these
    exceeds B; it is linear in (x, w, B), so the log-sum inequality costs nothing. *)

Require Import Reals Lra List Arith Lia Psatz.
From Ledger Require Import karwa_vadhan_lemma.
Import ListNotations.
Open Scope R_scope.

(** * Bounded divergences *)

Definition bounded (x w B : R) : Prop := forall t, 0 < t -> x * ln t + x - t * w <= B.

Definition divergence (x w : R) : R := if Rle_dec x 0 then 0 else x * ln (x / w).

Lemma tangent : forall u, 0 < u -> ln u <= u - 1.
Proof.
  intros u positive. pose proof (exp_ineq1_le (ln u)). rewrite exp_ln in H by assumption. lra.
Qed.

Lemma bounded_plus : forall x w B y v C, bounded x w B -> bounded y v C ->
  bounded (x + y) (w + v) (B + C).
Proof. intros x w B y v C one two t positive. specialize (one t positive). specialize (two t positive). lra. Qed.

Lemma bounded_scale : forall c x w B, 0 <= c -> bounded x w B -> bounded (c * x) (c * w) (c * B).
Proof. intros c x w B weight one t positive. specialize (one t positive). nra. Qed.

Lemma bounded_sum : forall n x w B, (forall z, (z < n)%nat -> bounded (x z) (w z) (B z)) ->
  bounded (sum n x) (sum n w) (sum n B).
Proof.
  induction n as [| n IH]; intros x w B each; simpl.
  - intros t positive. lra.
  - apply bounded_plus; [apply IH; intros; apply each; lia | apply each; lia].
Qed.

Lemma bounded_ratio : forall f h c, 0 <= f -> f <= exp c * h -> bounded f h (c * f).
Proof.
  intros f h c positive ratio t inside.
  assert (near : ln (t * exp (- c)) <= t * exp (- c) - 1)
    by (apply tangent; apply Rmult_lt_0_compat; [assumption | apply exp_pos]).
  rewrite ln_mult in near by (assumption || apply exp_pos). rewrite ln_exp in near.
  assert (low : f * exp (- c) <= h).
  { apply Rmult_le_reg_l with (exp c); [apply exp_pos |].
    replace (exp c * (f * exp (- c))) with (f * (exp c * exp (- c))) by ring.
    rewrite <- exp_plus. replace (c + - c) with 0 by ring. rewrite exp_0. lra. }
  assert (t * (f * exp (- c)) <= t * h) by (apply Rmult_le_compat_l; lra). nra.
Qed.

(** A bound for every t is a bound on the divergence itself. *)
Lemma bounded_divergence : forall x w B, 0 <= x -> 0 <= w -> 0 <= B -> bounded x w B ->
  divergence x w <= B.
Proof.
  intros x w B first second room one. unfold divergence. destruct (Rle_dec x 0) as [| above]; [lra |].
  assert (0 < x) by lra.
  destruct (Rle_lt_dec w 0) as [empty | positive].
  - assert (w = 0) by lra. subst w.
    specialize (one (exp (B / x)) (exp_pos _)). rewrite ln_exp in one.
    replace (x * (B / x)) with B in one by (field; lra). lra.
  - specialize (one (x / w) (Rdiv_lt_0_compat x w H positive)).
    replace (x / w * w) with x in one by (field; lra). lra.
Qed.

Lemma sum_zero : forall n f, (forall z, (z < n)%nat -> 0 <= f z) -> sum n f = 0 ->
  forall z, (z < n)%nat -> f z = 0.
Proof.
  induction n as [| n IH]; simpl; intros f positive total z inside; [lia |].
  assert (0 <= sum n f) by (apply sum_nonnegative; intros; apply positive; lia).
  assert (0 <= f n) by (apply positive; lia).
  destruct (Nat.eq_dec z n) as [here | there]; [subst; lra |].
  apply IH; [intros; apply positive; lia | lra | lia].
Qed.

(** Two independent draws with masses e and l of the same total. *)
Lemma bounded_pairs : forall k e l u v B,
  (forall x, (x < k)%nat -> 0 <= e x) -> (forall y, (y < k)%nat -> 0 <= l y) -> sum k e = sum k l ->
  (forall x y, (x < k)%nat -> (y < k)%nat -> bounded (u x) (v y) (B x)) ->
  bounded (sum k (fun x => e x * u x)) (sum k (fun y => l y * v y)) (sum k (fun x => e x * B x)).
Proof.
  intros k e l u v B positive_e positive_l same each t inside.
  set (p := sum k l) in *. set (F := sum k (fun x => e x * u x)).
  set (G := sum k (fun y => l y * v y)). set (W := sum k (fun x => e x * B x)).
  assert (inner : forall x, (x < k)%nat -> p * (u x * ln t + u x) - t * G <= p * B x).
  { intros x within. unfold p, G.
    replace (sum k l * (u x * ln t + u x) - t * sum k (fun y => l y * v y))
      with (sum k (fun y => (u x * ln t + u x) * l y + (- t) * (l y * v y)))
      by (rewrite sum_plus, !sum_scale; ring).
    replace (sum k l * B x) with (sum k (fun y => B x * l y)) by (rewrite sum_scale; ring).
    apply sum_le. intros y place. specialize (each x y within place t inside).
    specialize (positive_l y place). nra. }
  assert (outer : p * (F * ln t + F - t * G) <= p * W).
  { replace (p * (F * ln t + F - t * G))
      with (sum k (fun x => (p * (ln t + 1)) * (e x * u x) + (- t * G) * e x))
      by (rewrite sum_plus, !sum_scale; fold F; rewrite same; fold p; ring).
    replace (p * W) with (sum k (fun x => p * (e x * B x))) by (rewrite sum_scale; reflexivity).
    apply sum_le. intros x within. specialize (inner x within). specialize (positive_e x within). nra. }
  assert (0 <= p) by (apply sum_nonnegative; assumption).
  destruct (Req_dec p 0) as [none | some].
  - assert (zero_e : forall x, (x < k)%nat -> e x = 0) by (apply sum_zero; [assumption | lra]).
    assert (zero_l : forall y, (y < k)%nat -> l y = 0) by (apply sum_zero; [assumption | exact none]).
    assert (vanish : forall a h, (forall x, (x < k)%nat -> a x = 0) -> sum k (fun x => a x * h x) = 0).
    { intros a h zero. rewrite (sum_same k _ (fun x => 0 * h x)) by (intros; rewrite zero by assumption; ring).
      rewrite sum_scale. ring. }
    unfold F, G, W. rewrite !vanish by assumption. lra.
  - apply Rmult_le_reg_l with p; [lra | exact outer].
Qed.

(** * One action sequence *)

Section Rewards.

Variable k : nat.
Variable epsilon : R.
Hypothesis budget : 0 <= epsilon.

(** E[f(r) H], H the number of places in which the coupled rewards differ. *)
Fixpoint spent (Ps Qs : list (nat -> R)) (f : list nat -> R) : R :=
  match Ps, Qs with
  | P :: Ps, Q :: Qs =>
      sum k (fun x => excess P Q x * mean k Ps (fun w => f (x :: w)))
      + sum k (fun x => P x * spent Ps Qs (fun w => f (x :: w)))
  | _, _ => 0
  end.

Lemma mass_same : forall P Q, is_law k P -> is_law k Q -> sum k (excess P Q) = sum k (excess Q P).
Proof.
  intros P Q [_ one] [_ two].
  assert (unit : forall f, sum k (fun x => f x * 1) = sum k f) by (intro; apply sum_same; intros; ring).
  pose proof (split_law k P Q (fun _ => 1)) as first. pose proof (split_law k Q P (fun _ => 1)) as second.
  rewrite !unit in first, second.
  assert (sum k (shared Q P) = sum k (shared P Q))
    by (apply sum_same; intros; symmetry; apply shared_symmetric). lra.
Qed.

Theorem one_sequence : forall Ps Qs f h c, length Ps = length Qs ->
  Forall (is_law k) Ps -> Forall (is_law k) Qs ->
  is_private k (exp epsilon) 0 (length Ps) f ->
  (forall w, letters k w -> length w = length Ps -> f w <= exp c * h w) ->
  bounded (mean k Ps f) (mean k Qs h) (c * mean k Ps f + epsilon * spent Ps Qs f).
Proof.
  induction Ps as [| P Ps IH]; intros [| Q Qs] f h c same good_P good_Q private ratio;
    simpl in same; try discriminate; simpl.
  - rewrite Rmult_0_r, Rplus_0_r. apply bounded_ratio.
    + apply private; [constructor | reflexivity].
    + apply ratio; [constructor | reflexivity].
  - inversion good_P as [| ? ? law_P laws_P]; inversion good_Q as [| ? ? law_Q laws_Q]; subst.
    injection same as same.
    set (u := fun x => mean k Ps (fun w => f (x :: w))).
    set (v := fun y => mean k Qs (fun w => h (y :: w))).
    set (J := fun x => spent Ps Qs (fun w => f (x :: w))).
    change (bounded (sum k (fun x => P x * u x)) (sum k (fun y => Q y * v y))
      (c * sum k (fun x => P x * u x)
       + epsilon * (sum k (fun x => excess P Q x * u x) + sum k (fun x => P x * J x)))).
    assert (kept : bounded (sum k (fun x => shared P Q x * u x)) (sum k (fun y => shared P Q y * v y))
                     (sum k (fun x => shared P Q x * (c * u x + epsilon * J x)))).
    { apply bounded_sum. intros x inside. apply bounded_scale.
      - unfold shared. apply Rmin_glb; [apply law_P | apply law_Q]; assumption.
      - apply IH; auto; [apply (private_after k (exp epsilon) 0); assumption |].
        intros w fine size. apply ratio; [constructor; assumption | simpl; lia]. }
    assert (moved : bounded (sum k (fun x => excess P Q x * u x)) (sum k (fun y => excess Q P y * v y))
                      (sum k (fun x => excess P Q x * ((c + epsilon) * u x + epsilon * J x)))).
    { apply bounded_pairs; try (intros; unfold excess; apply Rmax_r); [apply mass_same; assumption |].
      intros x y inside within. apply IH; auto; [apply (private_after k (exp epsilon) 0); assumption |].
      intros w fine size.
      assert (f (x :: w) <= exp epsilon * f (y :: w) + 0)
        by (apply (proj2 private [] x y w); [repeat constructor; assumption | simpl; lia]).
      assert (f (y :: w) <= exp c * h (y :: w)) by (apply ratio; [constructor; assumption | simpl; lia]).
      rewrite (Rplus_comm c epsilon), exp_plus. pose proof (exp_pos epsilon). nra. }
    pose proof (bounded_plus _ _ _ _ _ _ moved kept) as both.
    rewrite (split_law k P Q u). rewrite (split_law k Q P v).
    rewrite (sum_same k (fun x => shared Q P x * v x) (fun x => shared P Q x * v x))
      by (intros; rewrite shared_symmetric; reflexivity).
    rewrite (split_law k P Q J).
    replace (c * (sum k (fun x => excess P Q x * u x) + sum k (fun x => shared P Q x * u x))
             + epsilon * (sum k (fun x => excess P Q x * u x)
                + (sum k (fun x => excess P Q x * J x) + sum k (fun x => shared P Q x * J x))))
      with (sum k (fun x => excess P Q x * ((c + epsilon) * u x + epsilon * J x))
            + sum k (fun x => shared P Q x * (c * u x + epsilon * J x))); [exact both |].
    assert (spread : forall a b1 b2, sum k (fun x => a x * (b1 * u x + b2 * J x))
                     = b1 * sum k (fun x => a x * u x) + b2 * sum k (fun x => a x * J x)).
    { intros a b1 b2. rewrite <- !sum_scale, <- sum_plus. apply sum_same. intros; ring. }
    rewrite !spread. ring.
Qed.

(** * Policies *)

Variable arms : nat.
Variables nu nu' : nat -> nat -> R.
Hypothesis laws_nu : forall a, (a < arms)%nat -> is_law k (nu a).
Hypothesis laws_nu' : forall a, (a < arms)%nat -> is_law k (nu' a).

(** A policy of n rounds: the law of the next arm, and what follows each arm and reward. *)
Fixpoint policy (n : nat) : Type :=
  match n with O => unit | S n => ((nat -> R) * (nat -> nat -> policy n))%type end.

Fixpoint proper (n : nat) : policy n -> Prop :=
  match n with
  | O => fun _ => True
  | S n => fun p => is_law arms (fst p) /\
      forall a x, (a < arms)%nat -> (x < k)%nat -> proper n (snd p a x)
  end.

(** The probability of the actions given the rewards. *)
Fixpoint chance (n : nat) : policy n -> list nat -> list nat -> R :=
  match n with
  | O => fun _ _ _ => 1
  | S n => fun p actions rewards =>
      match actions, rewards with
      | a :: actions, x :: rewards => fst p a * chance n (snd p a x) actions rewards
      | _, _ => 0
      end
  end.

Definition global_dp (n : nat) (p : policy n) : Prop :=
  forall actions, letters arms actions -> length actions = n ->
  is_private k (exp epsilon) 0 n (chance n p actions).

(** The law of the actions in an environment, and sums over all action sequences. *)
Definition action_law (env : nat -> nat -> R) (n : nat) (p : policy n) (actions : list nat) : R :=
  mean k (map env actions) (chance n p actions).

Fixpoint over (n : nat) (F : list nat -> R) : R :=
  match n with O => F [] | S n => sum arms (fun a => over n (fun w => F (a :: w))) end.

(** The expected number of changed rewards: E_nu sum_t TV(nu_{a_t}, nu'_{a_t}). *)
Fixpoint changed (n : nat) : policy n -> R :=
  match n with
  | O => fun _ => 0
  | S n => fun p => sum arms (fun a => fst p a * (distance k (nu a) (nu' a)
      + sum k (fun x => nu a x * changed n (snd p a x))))
  end.

Lemma over_le : forall n F G, (forall w, letters arms w -> length w = n -> F w <= G w) ->
  over n F <= over n G.
Proof.
  induction n as [| n IH]; simpl; intros F G each; [apply each; [constructor | reflexivity] |].
  apply sum_le. intros a inside. apply IH. intros w fine size.
  apply each; [constructor; assumption | simpl; lia].
Qed.

Lemma over_same : forall n F G, (forall w, letters arms w -> length w = n -> F w = G w) ->
  over n F = over n G.
Proof. intros. apply Rle_antisym; apply over_le; intros; rewrite H by assumption; lra. Qed.

Lemma over_scale : forall n c F, over n (fun w => c * F w) = c * over n F.
Proof.
  induction n as [| n IH]; simpl; intros c F; [reflexivity |]. rewrite <- sum_scale.
  apply sum_same. intros a _. apply (IH c (fun w => F (a :: w))).
Qed.

Lemma over_plus : forall n F G, over n (fun w => F w + G w) = over n F + over n G.
Proof.
  induction n as [| n IH]; simpl; intros F G; [reflexivity |]. rewrite <- sum_plus.
  apply sum_same. intros a _. apply (IH (fun w => F (a :: w)) (fun w => G (a :: w))).
Qed.

Lemma over_sum : forall n m F, over n (fun w => sum m (fun x => F x w)) = sum m (fun x => over n (F x)).
Proof.
  intros n m F. induction m as [| m IH]; simpl.
  - replace (over n (fun _ => 0)) with (0 * over n (fun _ => 0)); [ring |].
    rewrite <- over_scale. apply over_same. intros; ring.
  - rewrite (over_plus n (fun w => sum m (fun x => F x w)) (F m)). rewrite IH. reflexivity.
Qed.

Lemma mean_scale : forall laws c f, mean k laws (fun w => c * f w) = c * mean k laws f.
Proof.
  induction laws as [| P rest IH]; simpl; intros c f; [reflexivity |]. rewrite <- sum_scale.
  apply sum_same. intros x _. rewrite (IH c (fun w => f (x :: w))). ring.
Qed.

Lemma spent_scale : forall Ps Qs c f, spent Ps Qs (fun w => c * f w) = c * spent Ps Qs f.
Proof.
  induction Ps as [| P Ps IH]; intros [| Q Qs] c f; simpl; try ring.
  rewrite Rmult_plus_distr_l. rewrite <- !sum_scale. f_equal; apply sum_same; intros x _.
  - rewrite (mean_scale Ps c (fun w => f (x :: w))). ring.
  - rewrite (IH Qs c (fun w => f (x :: w))). ring.
Qed.

Lemma law_total : forall n p, proper n p -> over n (action_law nu n p) = 1.
Proof.
  induction n as [| n IH]; intros p good; [reflexivity |]. destruct good as [[_ one] next].
  simpl. rewrite <- one. apply sum_same. intros a inside.
  rewrite (over_same n _ (fun w => sum k (fun x => (nu a x * fst p a) * action_law nu n (snd p a x) w))).
  - rewrite over_sum.
    rewrite (sum_same k _ (fun x => fst p a * nu a x)).
    + rewrite sum_scale. rewrite (proj2 (laws_nu a inside)). ring.
    + intros x within. rewrite over_scale. rewrite IH by (apply next; assumption). ring.
  - intros w _ _. unfold action_law. simpl. apply sum_same. intros x _. rewrite mean_scale. ring.
Qed.

Lemma spent_total : forall n p, proper n p ->
  over n (fun w => spent (map nu w) (map nu' w) (chance n p w)) = changed n p.
Proof.
  induction n as [| n IH]; intros p good; [reflexivity |]. destruct good as [law next].
  simpl. apply sum_same. intros a inside.
  rewrite (over_same n _ (fun w =>
    sum k (fun x => (fst p a * excess (nu a) (nu' a) x) * action_law nu n (snd p a x) w)
    + sum k (fun x => (fst p a * nu a x) * spent (map nu w) (map nu' w) (chance n (snd p a x) w)))).
  - rewrite over_plus, !over_sum. rewrite Rmult_plus_distr_l. f_equal.
    + unfold distance. rewrite <- sum_scale. apply sum_same. intros x within.
      rewrite over_scale. rewrite law_total by (apply next; assumption). ring.
    + rewrite <- sum_scale. apply sum_same. intros x within.
      rewrite over_scale. rewrite IH by (apply next; assumption). ring.
  - intros w _ _. f_equal; apply sum_same; intros x _.
    + unfold action_law. rewrite mean_scale. ring.
    + rewrite spent_scale. ring.
Qed.

Lemma laws_of : forall env, (forall a, (a < arms)%nat -> is_law k (env a)) ->
  forall w, letters arms w -> Forall (is_law k) (map env w).
Proof. intros env good w fine. induction fine; simpl; constructor; auto. Qed.

Lemma spent_nonnegative : forall Ps Qs f, Forall (is_law k) Ps -> is_private k (exp epsilon) 0 (length Ps) f ->
  0 <= spent Ps Qs f.
Proof.
  induction Ps as [| P Ps IH]; intros [| Q Qs] f good private; simpl; try lra.
  inversion good as [| ? ? law laws]; subst. apply Rplus_le_le_0_compat; apply sum_nonnegative;
    intros x inside; apply Rmult_le_pos.
  - unfold excess. apply Rmax_r.
  - apply (mean_nonnegative k (exp epsilon) 0); [assumption | apply private_after; assumption].
  - apply law. assumption.
  - apply IH; [assumption | apply (private_after k (exp epsilon) 0); assumption].
Qed.

Theorem decomposition : forall n p, proper n p -> global_dp n p ->
  over n (fun w => divergence (action_law nu n p w) (action_law nu' n p w)) <= epsilon * changed n p.
Proof.
  intros n p good private. rewrite <- (spent_total n p good). rewrite <- over_scale.
  apply over_le. intros w fine size.
  assert (long : forall env : nat -> nat -> R, length (map env w) = n) by (intro; rewrite map_length; assumption).
  assert (mine : is_private k (exp epsilon) 0 (length (map nu w)) (chance n p w))
    by (rewrite long; apply private; assumption).
  assert (theirs : is_private k (exp epsilon) 0 (length (map nu' w)) (chance n p w))
    by (rewrite long; apply private; assumption).
  assert (here := laws_of nu laws_nu w fine). assert (there := laws_of nu' laws_nu' w fine).
  apply bounded_divergence.
  - apply (mean_nonnegative k (exp epsilon) 0); assumption.
  - apply (mean_nonnegative k (exp epsilon) 0); assumption.
  - apply Rmult_le_pos; [assumption | apply spent_nonnegative; assumption].
  - pose proof (one_sequence (map nu w) (map nu' w) (chance n p w) (chance n p w) 0) as step.
    rewrite !long in step. rewrite Rmult_0_l, Rplus_0_l in step. apply step;
      [reflexivity | assumption | assumption | apply private; assumption |].
    intros v _ _. rewrite exp_0. lra.
Qed.

(** * The same for total variation *)

(** tanh(epsilon / 2): how far apart two laws with ratios in [e^-epsilon, e^epsilon] can be. *)
Definition reach : R := (exp epsilon - 1) / (exp epsilon + 1).

Lemma reach_nonnegative : 0 <= reach.
Proof.
  pose proof (exp_ineq1_le epsilon). unfold reach, Rdiv. apply Rmult_le_pos; [lra |].
  left. apply Rinv_0_lt_compat. lra.
Qed.

Lemma apart : forall u v, u <= exp epsilon * v -> 1 - v <= exp epsilon * (1 - u) -> u - v <= reach.
Proof.
  intros u v one two. pose proof (exp_pos epsilon). unfold reach.
  apply Rmult_le_reg_r with (exp epsilon + 1); [lra |].
  replace ((exp epsilon - 1) / (exp epsilon + 1) * (exp epsilon + 1)) with (exp epsilon - 1)
    by (field; lra). nra.
Qed.

Lemma law_total' : forall n p, proper n p -> over n (action_law nu' n p) = 1.
Proof.
  induction n as [| n IH]; intros p good; [reflexivity |]. destruct good as [[_ one] next].
  simpl. rewrite <- one. apply sum_same. intros a inside.
  rewrite (over_same n _ (fun w => sum k (fun x => (nu' a x * fst p a) * action_law nu' n (snd p a x) w))).
  - rewrite over_sum.
    rewrite (sum_same k _ (fun x => fst p a * nu' a x)).
    + rewrite sum_scale. rewrite (proj2 (laws_nu' a inside)). ring.
    + intros x within. rewrite over_scale. rewrite IH by (apply next; assumption). ring.
  - intros w _ _. unfold action_law. simpl. apply sum_same. intros x _. rewrite mean_scale. ring.
Qed.

(** What follows an arm that is played is private too, and so is the step from one reward to another. *)
Lemma private_next : forall n (p : policy (S n)) a x, global_dp (S n) p -> (a < arms)%nat -> (x < k)%nat ->
  0 < fst p a -> global_dp n (snd p a x).
Proof.
  intros n p a x private inside within positive w fine size.
  assert (whole := private (a :: w) (Forall_cons a inside fine) (f_equal S size)).
  destruct whole as [low near]. split.
  - intros rs good long. specialize (low (x :: rs) (Forall_cons x within good) (f_equal S long)).
    simpl in low. apply Rmult_le_reg_l with (fst p a); [assumption | lra].
  - intros u b c v good long.
    specialize (near (x :: u) b c v (Forall_cons x within good)). simpl in near.
    specialize (near (f_equal S long)). apply Rmult_le_reg_l with (fst p a); [assumption | lra].
Qed.

Lemma next_near : forall n (p : policy (S n)) a x y w, global_dp (S n) p -> (a < arms)%nat ->
  (x < k)%nat -> (y < k)%nat -> 0 < fst p a -> letters arms w -> length w = n ->
  action_law nu' n (snd p a x) w <= exp epsilon * action_law nu' n (snd p a y) w.
Proof.
  intros n p a x y w private inside one two positive fine size.
  assert (0 <= 0) by lra. assert (step : action_law nu' n (snd p a x) w
    <= exp epsilon * action_law nu' n (snd p a y) w + 0); [| lra].
  apply (mean_near k (exp epsilon) 0); [apply laws_of; assumption |].
  intros rs good long. rewrite map_length in long.
  destruct (private (a :: w) (Forall_cons a inside fine) (f_equal S size)) as [_ near].
  assert (both : letters k ([] ++ x :: y :: rs)) by (repeat constructor; assumption).
  specialize (near [] x y rs both). simpl in near.
  assert (S (length rs) = S n) by lia. specialize (near H0).
  apply Rmult_le_reg_l with (fst p a); [assumption | lra].
Qed.

Theorem decomposition_tv : forall n p, proper n p -> global_dp n p ->
  forall event, (forall w, 0 <= event w <= 1) ->
  over n (fun w => event w * action_law nu n p w) - over n (fun w => event w * action_law nu' n p w)
  <= reach * changed n p.
Proof.
  induction n as [| n IH]; intros p good private event range.
  - simpl. unfold action_law. simpl. lra.
  - destruct good as [[positive one] next].
    set (m := fun a x => over n (fun w => event (a :: w) * action_law nu n (snd p a x) w)).
    set (m' := fun a y => over n (fun w => event (a :: w) * action_law nu' n (snd p a y) w)).
    assert (unfolded : forall env (h : nat -> nat -> R),
      (forall a x, h a x = over n (fun w => event (a :: w) * action_law env n (snd p a x) w)) ->
      over (S n) (fun w => event w * action_law env (S n) p w)
      = sum arms (fun a => fst p a * sum k (fun x => env a x * h a x))).
    { intros env h meant. simpl. apply sum_same. intros a inside.
      rewrite (over_same n _ (fun w => sum k (fun x =>
        (fst p a * env a x) * (event (a :: w) * action_law env n (snd p a x) w)))).
      - rewrite over_sum, <- sum_scale. apply sum_same. intros x _. rewrite over_scale, meant. ring.
      - intros w _ _. unfold action_law at 1. simpl. rewrite <- sum_scale. apply sum_same. intros x _.
        unfold action_law. rewrite mean_scale. ring. }
    rewrite (unfolded nu m (fun _ _ => eq_refl)). rewrite (unfolded nu' m' (fun _ _ => eq_refl)).
    simpl changed. rewrite <- sum_scale.
    assert (drop : forall f g h, (forall a, (a < arms)%nat -> f a - g a <= h a) ->
      sum arms f - sum arms g <= sum arms h).
    { intros f g h each. assert (sum arms f <= sum arms (fun a => g a + h a))
        by (apply sum_le; intros a inside; specialize (each a inside); lra).
      rewrite sum_plus in H. lra. }
    apply drop. intros a inside.
    assert (0 <= fst p a) by (apply positive; assumption).
    destruct (Req_dec (fst p a) 0) as [never | played]; [rewrite never; lra |].
    assert (chosen : 0 < fst p a) by lra.
    cut (sum k (fun x => nu a x * m a x) - sum k (fun x => nu' a x * m' a x)
         <= reach * (distance k (nu a) (nu' a) + sum k (fun x => nu a x * changed n (snd p a x)))).
    { intro short. assert (fst p a * (sum k (fun x => nu a x * m a x) - sum k (fun x => nu' a x * m' a x))
        <= fst p a * (reach * (distance k (nu a) (nu' a)
           + sum k (fun x => nu a x * changed n (snd p a x))))) by (apply Rmult_le_compat_l; assumption).
      lra. }
    assert (later : sum k (fun x => nu a x * m a x) - sum k (fun x => nu a x * m' a x)
                    <= reach * sum k (fun x => nu a x * changed n (snd p a x))).
    { rewrite <- sum_scale.
      assert (sum k (fun x => nu a x * m a x)
              <= sum k (fun x => nu a x * m' a x + reach * (nu a x * changed n (snd p a x)))).
      { apply sum_le. intros x within.
        assert (m a x - m' a x <= reach * changed n (snd p a x)).
        { apply IH; [apply next; assumption | apply private_next; assumption |]. intro w. apply range. }
        pose proof (proj1 (laws_nu a inside) x within). nra. }
      rewrite sum_plus in H0. lra. }
    assert (pairs : forall x y, (x < k)%nat -> (y < k)%nat -> m' a x - m' a y <= reach).
    { intros x y one_x one_y. apply apart.
      - unfold m'. rewrite <- over_scale. apply over_le. intros w fine size.
        pose proof (next_near n p a x y w private inside one_x one_y chosen fine size).
        specialize (range (a :: w)). nra.
      - assert (rest : forall z, (z < k)%nat -> 1 - m' a z
          = over n (fun w => (1 - event (a :: w)) * action_law nu' n (snd p a z) w)).
        { intros z within. assert (total := law_total' n (snd p a z) (next a z inside within)).
          assert (split := over_plus n
            (fun w => event (a :: w) * action_law nu' n (snd p a z) w)
            (fun w => (1 - event (a :: w)) * action_law nu' n (snd p a z) w)).
          assert (whole : over n (fun w => event (a :: w) * action_law nu' n (snd p a z) w
                                  + (1 - event (a :: w)) * action_law nu' n (snd p a z) w)
                          = over n (action_law nu' n (snd p a z)))
            by (apply over_same; intros; ring).
          unfold m'. lra. }
        rewrite (rest x one_x), (rest y one_y). rewrite <- over_scale. apply over_le. intros w fine size.
        pose proof (next_near n p a y x w private inside one_y one_x chosen fine size).
        specialize (range (a :: w)). nra. }
    assert (now : sum k (fun x => nu a x * m' a x) - sum k (fun x => nu' a x * m' a x)
                  <= reach * distance k (nu a) (nu' a)).
    { rewrite (split_law k (nu a) (nu' a) (m' a)). rewrite (split_law k (nu' a) (nu a) (m' a)).
      rewrite (sum_same k (fun x => shared (nu' a) (nu a) x * m' a x) (fun x => shared (nu a) (nu' a) x * m' a x))
        by (intros; rewrite shared_symmetric; reflexivity).
      assert (mass := mass_same (nu a) (nu' a) (laws_nu a inside) (laws_nu' a inside)).
      set (e := excess (nu a) (nu' a)) in *. set (l := excess (nu' a) (nu a)) in *.
      assert (low_e : forall x, 0 <= e x) by (intro; unfold e, excess; apply Rmax_r).
      assert (low_l : forall x, 0 <= l x) by (intro; unfold l, excess; apply Rmax_r).
      change (distance k (nu a) (nu' a)) with (sum k e).
      set (q := sum k e) in *. set (F := sum k (fun x => e x * m' a x)). set (G := sum k (fun y => l y * m' a y)).
      assert (0 <= q) by (apply sum_nonnegative; intros; apply low_e).
      assert (inner : forall x, (x < k)%nat -> q * m' a x - G <= reach * q).
      { intros x within. rewrite mass. unfold G. rewrite <- sum_scale.
        replace (sum k l * m' a x) with (sum k (fun y => m' a x * l y)) by (rewrite sum_scale; ring).
        assert (sum k (fun y => m' a x * l y) <= sum k (fun y => l y * m' a y + reach * l y)).
        { apply sum_le. intros y place. specialize (pairs x y within place). specialize (low_l y). nra. }
        rewrite sum_plus in H1. lra. }
      assert (outer : q * (F - G) <= q * (reach * q)).
      { replace (q * (F - G)) with (sum k (fun x => q * (e x * m' a x) + (- G) * e x))
          by (rewrite sum_plus, !sum_scale; fold F q; ring).
        replace (q * (reach * q)) with (sum k (fun x => (reach * q) * e x))
          by (rewrite sum_scale; fold q; ring).
        apply sum_le. intros x within. specialize (inner x within). specialize (low_e x). nra. }
      destruct (Req_dec q 0) as [none | some].
      - assert (vanish : forall b, (forall x, 0 <= b x) -> sum k b = 0 -> sum k (fun x => b x * m' a x) = 0).
        { intros b low total. rewrite (sum_same k _ (fun x => 0 * m' a x)).
          - rewrite sum_scale. ring.
          - intros x within. rewrite (sum_zero k b (fun z _ => low z) total x within). ring. }
        unfold F, G. rewrite (vanish e low_e none). rewrite (vanish l low_l) by lra. rewrite none. lra.
      - assert (F - G <= reach * q) by (apply Rmult_le_reg_l with q; [lra | exact outer]). lra. }
    lra.
Qed.

(** What the lower bounds use: no event tells the two environments apart better than this. *)
Theorem testing : forall n p, proper n p -> global_dp n p ->
  forall event, (forall w, 0 <= event w <= 1) ->
  1 - reach * changed n p <= over n (fun w => event w * action_law nu n p w)
                             + over n (fun w => (1 - event w) * action_law nu' n p w).
Proof.
  intros n p good private event range.
  assert (apart_by := decomposition_tv n p good private (fun w => 1 - event w)).
  assert (between : forall w, 0 <= 1 - event w <= 1) by (intro w; specialize (range w); lra).
  specialize (apart_by between). cbv beta in apart_by.
  assert (split := over_plus n (fun w => event w * action_law nu n p w)
                             (fun w => (1 - event w) * action_law nu n p w)).
  assert (whole : over n (fun w => event w * action_law nu n p w + (1 - event w) * action_law nu n p w)
                  = over n (action_law nu n p)) by (apply over_same; intros; ring).
  rewrite (law_total n p good) in whole. lra.
Qed.

End Rewards.

Print Assumptions decomposition.
Print Assumptions decomposition_tv.
