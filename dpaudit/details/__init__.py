"""What a page shows beside the verdict: more exact numbers on the same claim, and its regret.

Nothing here changes a verdict. Every part is computed within its share of a budget, or says why it
is missing.
"""
