"""Exact likelihoods of action sequences, and the largest privacy loss over all of them."""
