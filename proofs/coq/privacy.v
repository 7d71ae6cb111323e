(** The structure check, for finite reward sets and discrete noise.

    A declaration is a tree of plays, releases and choices. It never holds a reward: a release
    writes a noisy value into a register, and a choice reads registers and returns an arm. Each
    release charges each row (reward) an upper bound on the log-ratio of its law when that row
    changes. If no path charges row i more than epsilon, the law of the actions changes by at most
    a factor exp(epsilon) when row i changes: [private], [private_event]. The second part shows
    that the clamped two-sided geometric mechanism has the charge that dpaudit gives it,
    [geometric_sound], and that it is a probability law, [geometric_total]. *)

Require Import Reals Lra List Arith ZArith Lia Psatz.
Import ListNotations.
Open Scope R_scope.

(** * Streams, releases, declarations *)

Definition stream := nat -> Z.
Definition registers := nat -> nat.

(** Two streams of rewards from the finite set that differ in row [i] at most. *)
Definition neighbours (rewards : list Z) (i : nat) (s t : stream) : Prop :=
  (forall j, In (s j) rewards) /\ (forall j, In (t j) rewards) /\ (forall j, j <> i -> s j = t j).

Record release := {
  size : nat;                      (* the released value is one of 0 .. size - 1 *)
  law : stream -> nat -> R;        (* its law given the rewards *)
  charge : nat -> R                (* what it charges each row *)
}.

(** A charge is sound when it bounds the log-ratio of the law, row by row. *)
Definition sound (rewards : list Z) (r : release) : Prop :=
  (forall s z, 0 <= law r s z) /\
  (forall i s t, neighbours rewards i s t -> forall z, law r s z <= exp (charge r i) * law r t z).

Inductive declaration : Type :=
| Stop : declaration
| Play : nat -> declaration -> declaration
| Release : release -> nat -> declaration -> declaration
| Choose : (registers -> nat) -> (nat -> declaration) -> declaration.

Fixpoint all_sound (rewards : list Z) (d : declaration) : Prop :=
  match d with
  | Stop => True
  | Play _ next => all_sound rewards next
  | Release r _ next => sound rewards r /\ all_sound rewards next
  | Choose _ next => forall arm, all_sound rewards (next arm)
  end.

(** * The law of the actions *)

Fixpoint sum (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => sum k f + f k end.

Definition write (g : registers) (name value : nat) : registers :=
  fun other => if Nat.eqb other name then value else g other.

Fixpoint probability (d : declaration) (g : registers) (s : stream) (actions : list nat) : R :=
  match d with
  | Stop => match actions with [] => 1 | _ :: _ => 0 end
  | Play arm next =>
      match actions with
      | [] => 0
      | a :: rest => if Nat.eqb a arm then probability next g s rest else 0
      end
  | Release r name next =>
      sum (size r) (fun z => law r s z * probability next (write g name z) s actions)
  | Choose rule next => probability (next (rule g)) g s actions
  end.

(** * Paths and what they charge a row *)

Inductive path (i : nat) : declaration -> list R -> Prop :=
| path_stop : path i Stop []
| path_play : forall arm d l, path i d l -> path i (Play arm d) l
| path_release : forall r name d l, path i d l -> path i (Release r name d) (charge r i :: l)
| path_choose : forall rule d arm l, path i (d arm) l -> path i (Choose rule d) l.

Fixpoint total (l : list R) : R := match l with [] => 0 | c :: rest => c + total rest end.

(** * The theorem *)

Lemma sum_le : forall n f h, (forall z, f z <= h z) -> sum n f <= sum n h.
Proof. induction n; intros f h H; simpl; [lra |]. specialize (IHn f h H). specialize (H n). lra. Qed.

Lemma sum_scale : forall n c f, sum n (fun z => c * f z) = c * sum n f.
Proof. induction n; intros c f; simpl; [lra |]. rewrite IHn. lra. Qed.

Lemma sum_nonnegative : forall n f, (forall z, 0 <= f z) -> 0 <= sum n f.
Proof. induction n; intros f H; simpl; [lra |]. specialize (IHn f H). specialize (H n). lra. Qed.

Lemma probability_nonnegative : forall rewards d, all_sound rewards d ->
  forall g s actions, 0 <= probability d g s actions.
Proof.
  intros rewards d. induction d as [| arm d IH | r name d IH | rule d IH]; simpl; intros good g s actions.
  - destruct actions; lra.
  - destruct actions as [| a rest]; [lra |]. destruct (Nat.eqb a arm); [apply IH; exact good | lra].
  - apply sum_nonnegative. intro z. destruct good as [[positive _] good].
    apply Rmult_le_pos; [apply positive | apply IH; exact good].
  - apply IH. apply good.
Qed.

Theorem private : forall rewards i d, all_sound rewards d ->
  forall epsilon, (forall charges, path i d charges -> total charges <= epsilon) ->
  forall s t, neighbours rewards i s t ->
  forall g actions, probability d g s actions <= exp epsilon * probability d g t actions.
Proof.
  intros rewards i d. induction d as [| arm d IH | r name d IH | rule d IH];
    simpl; intros good epsilon bound s t near g actions.
  - assert (0 <= epsilon) by (apply (bound []); constructor).
    assert (1 <= exp epsilon) by (pose proof (exp_ineq1_le epsilon); lra).
    destruct actions; lra.
  - destruct actions as [| a rest]; [lra |]. destruct (Nat.eqb a arm); [| lra].
    apply IH; auto. intros charges walk. apply bound. constructor. exact walk.
  - destruct good as [[positive ratio] good]. rewrite <- sum_scale. apply sum_le. intro z.
    assert (rest : probability d (write g name z) s actions
                   <= exp (epsilon - charge r i) * probability d (write g name z) t actions).
    { apply IH; auto. intros charges walk.
      specialize (bound (charge r i :: charges) (path_release i r name d charges walk)).
      simpl in bound. lra. }
    specialize (ratio i s t near z).
    pose proof (positive s z). pose proof (positive t z).
    pose proof (probability_nonnegative rewards d good (write g name z) s actions).
    pose proof (probability_nonnegative rewards d good (write g name z) t actions).
    replace (exp epsilon) with (exp (charge r i) * exp (epsilon - charge r i))
      by (rewrite <- exp_plus; f_equal; lra).
    apply Rle_trans with ((exp (charge r i) * law r t z)
                          * (exp (epsilon - charge r i) * probability d (write g name z) t actions)).
    + apply Rmult_le_compat; assumption.
    + right. ring.
  - apply IH; auto. intros charges walk. apply bound. apply (path_choose i rule d (rule g)). exact walk.
Qed.

(** The same for every event, a finite set of action sequences. *)
Fixpoint event (d : declaration) (g : registers) (s : stream) (actions : list (list nat)) : R :=
  match actions with [] => 0 | a :: rest => probability d g s a + event d g s rest end.

Theorem private_event : forall rewards d, all_sound rewards d ->
  forall epsilon, (forall i charges, path i d charges -> total charges <= epsilon) ->
  forall i s t, neighbours rewards i s t ->
  forall g actions, event d g s actions <= exp epsilon * event d g t actions.
Proof.
  intros rewards d good epsilon bound i s t near g actions.
  induction actions as [| a rest IH]; simpl; [lra |].
  assert (probability d g s a <= exp epsilon * probability d g t a)
    by (apply (private rewards i d good epsilon (bound i) s t near)).
  lra.
Qed.

(** * The clamped two-sided geometric mechanism *)

Fixpoint block_sum (rows : list nat) (s : stream) : Z :=
  match rows with [] => 0%Z | j :: rest => (s j + block_sum rest s)%Z end.

Definition distance (z : nat) (c : Z) : R := IZR (Z.abs (Z.of_nat z - c)).

(** The released value is the block's sum plus noise, clamped to 0 .. top; [weight] holds the
    normalisation, which does not depend on the rewards. *)
Definition geometric (weight : nat -> R) (lambda span : R) (top : nat) (rows : list nat) : release :=
  {| size := S top;
     law := fun s z => weight z * exp (- lambda * distance z (block_sum rows s));
     charge := fun i => if in_dec Nat.eq_dec i rows then lambda * span else 0 |}.

Definition within (rewards : list Z) (span : R) : Prop :=
  forall a b, In a rewards -> In b rewards -> IZR (Z.abs (a - b)) <= span.

Lemma block_sum_same : forall rows s t, (forall j, In j rows -> s j = t j) ->
  block_sum rows s = block_sum rows t.
Proof.
  induction rows as [| j rest IH]; simpl; intros s t same; [reflexivity |].
  rewrite (same j (or_introl eq_refl)). rewrite (IH s t); [reflexivity |].
  intros k inside. apply same. right. exact inside.
Qed.

(** One row of a block without repetitions moves the sum by that row's change. *)
Lemma block_sum_moves : forall rows i s t, NoDup rows -> In i rows ->
  (forall j, j <> i -> s j = t j) -> (block_sum rows s - block_sum rows t = s i - t i)%Z.
Proof.
  induction rows as [| j rest IH]; simpl; intros i s t unique inside same; [contradiction |].
  inversion unique as [| ? ? fresh others]; subst. destruct inside as [here | there].
  - subst j. rewrite (block_sum_same rest s t); [lia |]. intros k inside. apply same.
    intro equal. subst k. contradiction.
  - assert (j <> i) by (intro equal; subst j; contradiction).
    rewrite (same j H). specialize (IH i s t others there same). lia.
Qed.

Lemma distance_moves : forall z c c', distance z c' <= distance z c + IZR (Z.abs (c - c')).
Proof. intros z c c'. unfold distance. rewrite <- plus_IZR. apply IZR_le. lia. Qed.

Theorem geometric_sound : forall rewards weight lambda span top rows,
  (forall z, 0 <= weight z) -> 0 <= lambda -> 0 <= span -> within rewards span -> NoDup rows ->
  sound rewards (geometric weight lambda span top rows).
Proof.
  intros rewards weight lambda span top rows positive rate width small unique. split.
  - intros s z. simpl. apply Rmult_le_pos; [apply positive | left; apply exp_pos].
  - intros i s t [from_s [from_t same]] z. simpl.
    replace (exp (if in_dec Nat.eq_dec i rows then lambda * span else 0)
             * (weight z * exp (- lambda * distance z (block_sum rows t))))
      with (weight z * exp ((if in_dec Nat.eq_dec i rows then lambda * span else 0)
                            + - lambda * distance z (block_sum rows t)))
      by (rewrite exp_plus; ring).
    apply Rmult_le_compat_l; [apply positive |].
    destruct (in_dec Nat.eq_dec i rows) as [inside | outside].
    + assert (move : IZR (Z.abs (block_sum rows s - block_sum rows t)) <= span).
      { rewrite (block_sum_moves rows i s t unique inside same). apply small; auto. }
      pose proof (distance_moves z (block_sum rows s) (block_sum rows t)).
      assert (goal : - lambda * distance z (block_sum rows s)
                     <= lambda * span + - lambda * distance z (block_sum rows t)) by nra.
      destruct goal as [less | equal]; [left; apply exp_increasing; exact less | rewrite equal; lra].
    + rewrite (block_sum_same rows s t); [rewrite Rplus_0_l; lra |].
      intros j inside. apply same. intro equal. subst j. contradiction.
Qed.

(** * The mechanism is a probability law *)

Section Total.

Variable lambda : R.
Variables top centre : nat.
Hypothesis rate : 0 < lambda.
Hypothesis room : (1 <= top)%nat.
Hypothesis inside : (centre <= top)%nat.

Let q := exp (- lambda).

Definition clamped (z : nat) : R :=
  if Nat.eqb z 0 then 1 / (1 + q) else if Nat.eqb z top then 1 / (1 + q) else (1 - q) / (1 + q).

Let term (z : nat) := clamped z * q ^ ((z - centre) + (centre - z)).

Lemma q_positive : 0 < q. Proof. apply exp_pos. Qed.

Lemma part_low : forall n, (1 <= n)%nat -> (n <= top)%nat -> (n <= S centre)%nat ->
  sum n term * (1 + q) = q ^ (S centre - n).
Proof.
  pose proof q_positive. induction n as [| n IH]; intros first second third; [lia |].
  destruct n as [| n].
  - simpl. unfold term, clamped. simpl. replace (centre - 0)%nat with centre by lia. field. lra.
  - change (sum (S (S n)) term) with (sum (S n) term + term (S n)).
    rewrite Rmult_plus_distr_r. rewrite IH by lia. unfold term, clamped.
    replace (Nat.eqb (S n) 0) with false by reflexivity.
    replace (Nat.eqb (S n) top) with false by (symmetry; apply Nat.eqb_neq; lia).
    replace (S n - centre + (centre - S n))%nat with (S centre - S (S n))%nat by lia.
    replace (S centre - S n)%nat with (S (S centre - S (S n)))%nat by lia. simpl. field. lra.
Qed.

Lemma part_high : (centre < top)%nat -> forall n, (S centre <= n)%nat -> (n <= top)%nat ->
  sum n term * (1 + q) = 1 + q - q ^ (n - centre).
Proof.
  pose proof q_positive. intros below. induction n as [| n IH]; intros first second; [lia |].
  destruct (Nat.eq_dec n centre) as [here | there].
  - subst n. rewrite part_low by lia. replace (S centre - S centre)%nat with 0%nat by lia.
    replace (S centre - centre)%nat with 1%nat by lia. simpl. ring.
  - change (sum (S n) term) with (sum n term + term n).
    rewrite Rmult_plus_distr_r. rewrite IH by lia. unfold term, clamped.
    replace (Nat.eqb n 0) with false by (symmetry; apply Nat.eqb_neq; lia).
    replace (Nat.eqb n top) with false by (symmetry; apply Nat.eqb_neq; lia).
    replace (n - centre + (centre - n))%nat with (n - centre)%nat by lia.
    replace (S n - centre)%nat with (S (n - centre)) by lia. simpl. field. lra.
Qed.

Lemma terms_total : sum (S top) term = 1.
Proof.
  pose proof q_positive.
  apply Rmult_eq_reg_r with (1 + q); [| lra].
  change (sum (S top) term) with (sum top term + term top). rewrite Rmult_plus_distr_r.
  unfold term at 2. unfold clamped.
  replace (Nat.eqb top 0) with false by (symmetry; apply Nat.eqb_neq; lia).
  rewrite Nat.eqb_refl. destruct (Nat.eq_dec centre top) as [edge | below].
  - rewrite part_low by lia. replace (S centre - top)%nat with 1%nat by lia.
    replace (top - centre + (centre - top))%nat with 0%nat by lia. simpl. field. lra.
  - rewrite part_high by lia.
    replace (top - centre + (centre - top))%nat with (top - centre)%nat by lia. field. lra.
Qed.

Lemma power_is_exponential : forall n, q ^ n = exp (- lambda * INR n).
Proof.
  induction n as [| n IH]; [simpl; rewrite Rmult_0_r, exp_0; reflexivity |].
  rewrite S_INR. simpl pow. rewrite IH. unfold q. rewrite <- exp_plus. f_equal. ring.
Qed.

Theorem geometric_total : forall span rows s, block_sum rows s = Z.of_nat centre ->
  sum (S top) (law (geometric clamped lambda span top rows) s) = 1.
Proof.
  intros span rows s place. rewrite <- terms_total.
  assert (same : forall n, sum n (law (geometric clamped lambda span top rows) s) = sum n term).
  { induction n as [| n IH]; [reflexivity |]. cbn [sum]. rewrite IH. f_equal. simpl. unfold term.
    rewrite power_is_exponential. rewrite place. unfold distance. f_equal. f_equal. f_equal.
    rewrite INR_IZR_INZ. f_equal. lia. }
  apply same.
Qed.

End Total.

(** * An instance: two arms, one release each, then a choice *)

Definition bits : list Z := [0%Z; 1%Z].

Definition example (weight : nat -> R) (epsilon : R) : declaration :=
  Play 0 (Play 1 (Release (geometric weight epsilon 1 1 [0%nat]) 0
    (Release (geometric weight epsilon 1 1 [1%nat]) 1
      (Choose (fun g => if Nat.leb (g 1%nat) (g 0%nat) then 0%nat else 1%nat)
        (fun arm => Play arm Stop))))).

Theorem example_private : forall weight epsilon, (forall z, 0 <= weight z) -> 0 <= epsilon ->
  forall i s t, neighbours bits i s t -> forall g actions,
  event (example weight epsilon) g s actions <= exp epsilon * event (example weight epsilon) g t actions.
Proof.
  intros weight epsilon positive rate. apply (private_event bits).
  - assert (width : within bits 1).
    { intros a b [a0 | [a1 | []]] [b0 | [b1 | []]]; subst; simpl; lra. }
    simpl. repeat split; try (apply (geometric_sound bits); auto; try lra;
      repeat constructor; simpl; tauto).
  - intros i charges walk. unfold example in walk.
    repeat match goal with walk : path _ _ _ |- _ => inversion walk; subst; clear walk end.
    cbn [total charge geometric].
    destruct (in_dec Nat.eq_dec i [0%nat]) as [first |], (in_dec Nat.eq_dec i [1%nat]) as [second |];
      try (simpl in first, second; lia); lra.
Qed.

Print Assumptions private_event.
