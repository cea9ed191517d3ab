"""Rates of what is rare, and what they may be at most."""

from __future__ import annotations

from scipy.stats import beta


def upper_bound(alarms: int, runs: int) -> float:
    """95 % upper bound of a rate (Clopper and Pearson, 1934)."""
    return 1.0 if alarms == runs else float(beta.ppf(0.95, alarms + 1, runs - alarms))
