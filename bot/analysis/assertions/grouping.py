"""Groups of call paths over which the calls of a method fall into the same clusters as often."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.analysis.assertions.information import adjusted_mutual_information
from bot.model.assertions import Floats

Labels: TypeAlias = NDArray[np.int64]
"""A group's number for each path, (n_paths,)."""
DIFFERENT = (0.08, 0.16)
"""Share of calls that fall into other clusters: below, paths are alike; above, they are not."""
SURELY = 3.0
"""Standard errors beyond such a difference, from which on a path that is not well known has its own group."""
KNOWN = 0.03
"""Standard error of a share, at most, of paths that found groups; others only join them."""


def published_groups(counts: Floats) -> Labels:
    """k-means of paths' vectors, k from 1 while the adjusted mutual information rises (section 3.3).

    counts: calls by path and cluster, (n_paths, n_clusters). The information is that of the calls' clusters
    and their paths' groups.
    """
    from sklearn.cluster import KMeans  # a third of a second, not of every start

    found = vectors(counts)
    best, most = np.zeros(len(counts), dtype=np.int64), 0.0
    for k in range(2, len(np.unique(found.round(12), axis=0)) + 1):
        labels = KMeans(k, n_init=10, random_state=0).fit_predict(found).astype(np.int64)
        table = np.zeros((k, counts.shape[1]))
        np.add.at(table, labels, counts)
        told = adjusted_mutual_information(table)
        if told <= most:
            break
        best, most = labels, told
    return best


def groups(counts: Floats, passed: Floats) -> Labels:
    """Groups of well-known paths; each other path joins the most related one that it fits, if it fits any.

    counts: calls by path, trial and cluster, (n_paths, n_trials, n_clusters). passed: 1 where a path passes
    a call edge, (n_paths, n_edges).

    Paths that are well known merge by average linkage of their distance, the share of calls that would have
    to fall into other clusters. Where the tree is cut is no matter of one threshold: in the widest gap of
    its heights between a difference that hardly matters and one that does.
    """
    calls = counts.sum(axis=1)
    found, errors = vectors(calls), _errors(counts)
    known = np.flatnonzero(errors <= KNOWN)
    if not len(known):
        known = calls.sum(axis=1).argmax(keepdims=True)
    labels = np.full(len(calls), -1, dtype=np.int64)
    labels[known] = _cut(found[known])
    totals = [calls[labels == g].sum(axis=0) for g in range(labels.max() + 1)]
    related = _related(passed)
    for path in sorted(np.flatnonzero(labels < 0), key=lambda p: (-calls[p].sum(), p)):
        far = np.abs(found[path] - vectors(np.array(totals))).sum(axis=1) / 2
        if far.min() > DIFFERENT[1] + SURELY * errors[path]:
            labels[path] = len(totals)
            totals.append(calls[path])
            continue
        fits = far <= max(far.min() + 1e-9, DIFFERENT[0] + 2 * errors[path])
        near = np.where((labels >= 0) & fits[labels], related[path], -1.0)
        labels[path] = min(labels[near >= near.max() - 1e-9], key=lambda g: (far[g], g))
        totals[labels[path]] = totals[labels[path]] + calls[path]
    return labels


def vectors(calls: Floats) -> Floats:
    """Normalised cluster distribution vectors (definition 6)."""
    shares: Floats = calls / np.maximum(calls.sum(axis=-1, keepdims=True), 1)
    return shares


def _related(passed: Floats) -> Floats:
    """Share of the edges of either path that both pass, (n_paths, n_paths)."""
    common, sizes = passed @ passed.T, passed.sum(axis=1)
    shares: Floats = common / np.maximum(np.add.outer(sizes, sizes) - common, 1)
    return shares


def _errors(counts: Floats) -> Floats:
    """Standard error of each path's shares, the largest: by its calls, or by how its trials differ."""
    calls = counts.sum(axis=1)
    total = calls.sum(axis=1)
    smooth = (calls + 0.5) / (total + 0.5 * calls.shape[1])[:, None]
    by_number = smooth * (1 - smooth) / np.maximum(total, 1)[:, None]
    sizes = counts.sum(axis=2, keepdims=True)
    trials = np.maximum((sizes > 0).sum(axis=1), 2)
    residuals = (counts - sizes * vectors(calls)[:, None]) / np.maximum(total, 1)[:, None, None]
    by_trial = (residuals**2).sum(axis=1) * trials / (trials - 1)
    errors: Floats = np.sqrt(np.maximum(by_number, by_trial).max(axis=1))
    return errors


def _cut(found: Floats) -> Labels:
    """Average linkage, cut in the widest gap of heights between a small and a large difference."""
    if len(found) < 2:
        return np.zeros(len(found), dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    # Distances by ourselves: two opposite vectors look like a matrix of distances, of which scipy warns.
    tree = linkage(pdist(found, "cityblock"), "average")
    low, high = DIFFERENT
    heights = tree[:, 2] / 2
    stops = np.concatenate([[low], np.sort(heights[(heights > low) & (heights < high)]), [high]])
    widest = int(np.argmax(np.diff(stops)))
    cut = stops[widest : widest + 2].mean()
    labels: Labels = fcluster(tree, 2 * cut, "distance").astype(np.int64) - 1
    return labels
