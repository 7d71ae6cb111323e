"""Exact likelihoods of action sequences, the largest privacy loss, and its witness."""

from dpaudit.exact.likelihood import Likelihood, likelihood
from dpaudit.exact.profile import Law, Profile, law, profile
from dpaudit.exact.search import WorstLoss
from dpaudit.exact.witness import recompute, shrink
from dpaudit.exact.worst import worst_loss

__all__ = [
    "Law",
    "Likelihood",
    "Profile",
    "WorstLoss",
    "law",
    "likelihood",
    "profile",
    "recompute",
    "shrink",
    "worst_loss",
]
