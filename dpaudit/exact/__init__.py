"""Exact likelihoods of action sequences, the largest privacy loss, and its witness."""

from dpaudit.exact.likelihood import Likelihood, likelihood
from dpaudit.exact.profile import Law, Profile, law, loss_by_position, profile
from dpaudit.exact.search import WorstLoss
from dpaudit.exact.witness import WitnessCheck, recompute, shrink
from dpaudit.exact.worst import loss_by_horizon, worst_loss

__all__ = [
    "Law",
    "Likelihood",
    "Profile",
    "WitnessCheck",
    "WorstLoss",
    "law",
    "likelihood",
    "loss_by_horizon",
    "loss_by_position",
    "profile",
    "recompute",
    "shrink",
    "worst_loss",
]
