"""Which commits to measure next in a configuration: the widest gaps, and where a change is suspected."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

R_COMMITS = 0.03
"""Share of all commits that a new configuration starts with (section 4.1.3)."""
LEAST_COMMITS = 10
"""But at least so many: short histories need points, too."""


def first_count(n_commits: int) -> int:
    """How many commits a new configuration needs."""
    return min(n_commits, max(LEAST_COMMITS, round(R_COMMITS * n_commits)))


def first_commits(
    n_commits: int, count: int, *, barred: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Commits for a new configuration, drawn for it alone (section 3.1), ascending.

    The first and the last one are always among them: what happens outside of a sample cannot be seen.

    Args:
        n_commits: length of the history.
        count: wanted number; at least two are taken.
        barred: commits that cannot be built.
        rng: source of randomness.
    """
    open_ = np.setdiff1d(np.arange(n_commits), barred)
    inner = open_[1:-1]
    drawn = rng.choice(inner, size=min(max(count - 2, 0), len(inner)), replace=False)
    found: NDArray[np.int64] = np.union1d(open_[[0, -1]] if len(open_) else open_, drawn)
    return found


def explore_commits(tried: NDArray[np.int64], count: int, *, n_commits: int) -> list[int]:
    """At most `count` untried commits, each as far as possible from all tried ones (section 3.4.1)."""
    known = np.asarray(tried, dtype=np.int64)
    found: list[int] = []
    while len(found) < count and len(known) < n_commits:
        best = _farthest(known, n_commits)
        found.append(best)
        known = np.insert(known, np.searchsorted(known, best), best)
    return found


def _farthest(known: NDArray[np.int64], n_commits: int) -> int:
    if not len(known):
        return 0
    middles = (known[:-1] + known[1:]) // 2
    places = np.concatenate(([0], middles, [n_commits - 1]))
    distances = np.concatenate(([known[0]], middles - known[:-1], [n_commits - 1 - known[-1]]))
    return int(places[np.argmax(distances)])


def exploit_commits(
    uncertain: NDArray[np.bool_], tried: NDArray[np.int64], count: int, *, rng: np.random.Generator
) -> list[int]:
    """At most `count` untried commits drawn where a change is likely but not sure (section 3.4.1).

    Args:
        uncertain: shape (n_commits,).
        tried: commits measured so far.
        count: wanted number.
        rng: source of randomness.
    """
    open_ = np.setdiff1d(np.flatnonzero(uncertain), tried)
    return [int(c) for c in rng.choice(open_, size=min(count, len(open_)), replace=False)]


def shares(total: int, parts: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """`total` trials dealt evenly to `parts` configurations; who gets the remainder is drawn."""
    if not parts:
        return np.zeros(0, dtype=np.int64)
    each = np.full(parts, total // parts, dtype=np.int64)
    each[rng.choice(parts, size=total % parts, replace=False)] += 1
    return each
