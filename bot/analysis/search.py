"""A first guess of which terms carry a change: the best sums of a few of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bot.analysis.likelihood import LARGEST, LAYOUT, PRESENT, SMALLEST, TAIL, Likelihood, unevenness
from bot.analysis.pairs import Floats

WIDEST = 600
"""Candidates that are tried two at a time; more are first ordered by what they explain alone."""
BEAM = 24
"""Sums that are extended by a third and a fourth term."""
RIDGE = 1e-10
"""Share of the largest information that is added to each term's own: above rounding, below any pair's."""


def best_sums(
    covers: Floats,
    log_prior: Floats,
    location: Floats,
    *,
    variance: Floats,
    shift: float,
    most: int,
    owner: NDArray[np.intp] | None = None,
) -> list[list[tuple[int, ...]]]:
    """The most probable sums of 1, 2, ..., `most` candidates: for each number of terms up to `BEAM` of them.

    covers: (n_terms, n_configurations); log_prior: of each term being there, (n_terms,); location, variance:
    (n_configurations,); shift: standard deviation of a shift of all configurations, integrated out. owner:
    rows of the same owner are never in one sum, (n_terms,) (None: each is its own).

    Fitting one term after the other blames "everything" and a pair where two options are guilty (the mean is
    the same), so all sums of two are compared (conjugate normal evidence, Bishop 2006, 3.5) and extended.
    """
    slab = max(0.03, float(np.sqrt(np.mean(location**2)))) ** -2
    weight = 1.0 / variance
    mean_row = covers @ weight
    damp = shift**2 / (1.0 + shift**2 * weight.sum())
    gram_diagonal = mean_row - damp * mean_row**2
    moment = covers @ (weight * location) - damp * mean_row * float(weight @ location)
    alone = log_prior + _gain(moment, gram_diagonal, slab)
    keep = np.argsort(-alone, kind="stable")[:WIDEST]
    covers, moment, log_prior = covers[keep], moment[keep], log_prior[keep]
    mine = keep if owner is None else owner[keep]
    together = np.where(mine[:, None] == mine, -np.inf, log_prior)
    gram = (covers * weight) @ covers.T - damp * np.outer(mean_row[keep], mean_row[keep])
    found: list[list[tuple[int, ...]]] = [[(int(k),) for k in keep[:BEAM]]]
    beam = _pairs(gram, moment, log_prior[:, None] + together, slab)
    while beam:
        found.append([tuple(int(keep[i]) for i in terms) for _, terms in beam])
        if len(found) >= most:
            break
        beam = _extended(beam, gram, moment, together=together, slab=slab)
    return found


def _gain(moment: Floats, information: Floats, slab: float) -> Floats:
    """Log evidence that a term with a normal prior of precision `slab` adds."""
    total = information + slab
    gain: Floats = 0.5 * moment**2 / total - 0.5 * np.log(total / slab)
    return gain


def _pairs(
    gram: Floats, moment: Floats, together: Floats, slab: float
) -> list[tuple[float, tuple[int, ...]]]:
    """The best sums of two terms; together: log prior of both being there, (n_terms, n_terms)."""
    own = np.diag(gram) + slab
    determinant = np.maximum(np.outer(own, own) - gram**2, 1e-300)
    crossed = np.outer(moment, moment) * gram
    explained = (np.outer(moment**2, own) + np.outer(own, moment**2) - 2.0 * crossed) / determinant
    score = 0.5 * explained - 0.5 * np.log(determinant / slab**2) + together
    rows, columns = np.triu_indices(len(moment), 1)
    flat = score[rows, columns]
    if not len(flat):
        return []
    top = np.argpartition(-flat, min(BEAM, len(flat)) - 1)[:BEAM]
    return sorted(((float(flat[i]), (int(rows[i]), int(columns[i]))) for i in top), reverse=True)


def _extended(
    beam: list[tuple[float, tuple[int, ...]]], gram: Floats, moment: Floats, *, together: Floats, slab: float
) -> list[tuple[float, tuple[int, ...]]]:
    """Each sum of the beam with one term more, the best first.

    together: log prior of a column's term beside a row's, (n_terms, n_terms).
    """
    grown: dict[tuple[int, ...], float] = {}
    for score, terms in beam:
        chosen = list(terms)
        inverse = np.linalg.inv(gram[np.ix_(chosen, chosen)] + slab * np.eye(len(chosen)))
        cross = gram[:, chosen]
        left = moment - cross @ (inverse @ moment[chosen])
        information = np.diag(gram) - np.einsum("ij,jk,ik->i", cross, inverse, cross)
        gain = together[chosen].min(axis=0) + _gain(left, np.maximum(information, 0.0), slab)
        for k in np.argsort(-gain)[:BEAM]:
            grown[tuple(sorted((*terms, int(k))))] = score + float(gain[k])
    return sorted(((score, terms) for terms, score in grown.items()), reverse=True)[:BEAM]


def best_start(
    covers: Floats,
    log_prior: Floats,
    location: Floats,
    *,
    variance: Floats,
    most: int,
    owner: NDArray[np.intp] | None = None,
) -> tuple[list[tuple[int, float]], float]:
    """Candidates and sizes of the most probable sum of at most `most` terms, and how uneven its effects are.

    covers: (n_terms, n_configurations); log_prior: (n_terms,); location, variance: (n_configurations,). Sums
    are proposed by Gaussian evidence, then compared by the likelihood itself (Laplace's approximation).
    """
    there = log_prior + np.log(PRESENT / (1.0 - PRESENT))
    level = 0.5 * (location**2 + np.mean(location**2))
    shares = unevenness(len(location))
    middle = shares[len(shares) // 2]
    rough = variance + LAYOUT**2 + middle**2 * level
    sums = best_sums(covers, there, location, variance=rough, shift=LAYOUT, most=most, owner=owner)
    none: list[tuple[int, ...]] = [()]
    best: tuple[float, list[tuple[int, float]], float] = (-np.inf, [], middle)
    for uneven in shares:
        density = Likelihood(location, variance, uneven=uneven)
        for terms in (none, *sums):
            rows = np.array(terms, dtype=np.intp)
            scores, sizes = _scores(density, covers[rows], there[rows])
            i = int(np.argmax(scores))
            if scores[i] > best[0]:
                best = (float(scores[i]), list(zip(terms[i], map(float, sizes[i]), strict=True)), uneven)
    return best[1], best[2]


def _scores(density: Likelihood, covers: Floats, there: Floats) -> tuple[Floats, Floats]:
    """Log evidence and sizes of sums, from covers (n_sums, n_terms, n_configurations) and log priors."""
    n_sums, n_terms, n = covers.shape
    rows = np.concatenate([covers, np.ones((n_sums, 1, n))], axis=1)  # the last one is the shift
    shifted = np.diag([0.0] * n_terms + [LAYOUT**-2])
    fitted = np.broadcast_to(density.location, (n_sums, n)).copy()
    for _ in range(5):
        spread = density.spread(fitted.T).T
        distance = (density.location - fitted) ** 2 / spread
        weight = (TAIL + 1.0) / (TAIL + distance) / spread
        information = np.einsum("msc,mc,mtc->mst", rows, weight, rows) + shifted
        # Terms that add up to others (a, !a and everything) share their size, however many pairs there are.
        largest = information.max(axis=(1, 2), keepdims=True)
        information += RIDGE * largest * np.eye(n_terms + 1)
        moment = np.einsum("msc,mc->ms", rows, weight * density.location)
        sizes = np.linalg.solve(information, moment[..., None])[..., 0]
        fitted = np.einsum("msc,ms->mc", rows, sizes)
    own = np.clip(np.abs(sizes[:, :-1]), SMALLEST, LARGEST)
    log_size = -np.log(2.0 * np.log(LARGEST / SMALLEST) * own)
    shift = -0.5 * (sizes[:, -1] / LAYOUT) ** 2 - np.log(LAYOUT)
    # Nothing is less certain than its own size: terms that add up to a constant must not look determined.
    bounded = information[:, :-1, :-1] + own[:, None, :] ** -2.0 * np.eye(n_terms)
    information[:, :-1, :-1] = bounded
    _, log_volume = np.linalg.slogdet(information / (2.0 * np.pi))
    score = density(fitted.T).sum(axis=0) + (there + log_size).sum(axis=1) + shift - 0.5 * log_volume
    return np.where((np.abs(sizes[:, :-1]) >= SMALLEST).all(axis=1), score, -np.inf), sizes[:, :-1]
