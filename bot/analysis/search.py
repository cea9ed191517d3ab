"""A first guess of which terms carry a change: the best sum of up to four by Gaussian evidence."""

from __future__ import annotations

import numpy as np

from bot.analysis.pairs import Floats

WIDEST = 600
"""Candidates that are tried two at a time; more are first ordered by what they explain alone."""
BEAM = 24
"""Sums that are extended by a third and a fourth term."""


def best_sum(
    covers: Floats, log_prior: Floats, location: Floats, *, variance: Floats, shift: float, most: int
) -> list[tuple[int, float]]:
    """Candidates and sizes (log ratios) of the most probable sum of at most `most` terms.

    covers: (n_terms, n_configurations); log_prior: of each term being there, (n_terms,); location, variance:
    (n_configurations,); shift: standard deviation of a shift of all configurations, integrated out.

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
    covers, moment, alone, log_prior = covers[keep], moment[keep], alone[keep], log_prior[keep]
    gram = (covers * weight) @ covers.T - damp * np.outer(mean_row[keep], mean_row[keep])
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    if len(alone) and alone.max() > 0:
        best = (float(alone.max()), (int(np.argmax(alone)),))
    beam = _pairs(gram, moment, log_prior, slab)
    for size in range(2, most + 1):
        if not beam:
            break
        best = max(best, beam[0])
        if size < most:
            beam = _extended(beam, gram, moment, log_prior=log_prior, slab=slab)
    chosen = list(best[1])
    sizes = np.linalg.solve(gram[np.ix_(chosen, chosen)] + slab * np.eye(len(chosen)), moment[chosen])
    return [(int(keep[i]), float(size)) for i, size in zip(chosen, sizes, strict=True)]


def _gain(moment: Floats, information: Floats, slab: float) -> Floats:
    """Log evidence that a term with a normal prior of precision `slab` adds."""
    total = information + slab
    gain: Floats = 0.5 * moment**2 / total - 0.5 * np.log(total / slab)
    return gain


def _pairs(
    gram: Floats, moment: Floats, log_prior: Floats, slab: float
) -> list[tuple[float, tuple[int, ...]]]:
    """The best sums of two terms."""
    own = np.diag(gram) + slab
    determinant = np.maximum(np.outer(own, own) - gram**2, 1e-300)
    crossed = np.outer(moment, moment) * gram
    explained = (np.outer(moment**2, own) + np.outer(own, moment**2) - 2.0 * crossed) / determinant
    score = 0.5 * explained - 0.5 * np.log(determinant / slab**2) + log_prior[:, None] + log_prior
    rows, columns = np.triu_indices(len(moment), 1)
    flat = score[rows, columns]
    if not len(flat):
        return []
    top = np.argpartition(-flat, min(BEAM, len(flat)) - 1)[:BEAM]
    return sorted(((float(flat[i]), (int(rows[i]), int(columns[i]))) for i in top), reverse=True)


def _extended(
    beam: list[tuple[float, tuple[int, ...]]], gram: Floats, moment: Floats, *, log_prior: Floats, slab: float
) -> list[tuple[float, tuple[int, ...]]]:
    """Each sum of the beam with one term more, the best first."""
    grown: dict[tuple[int, ...], float] = {}
    for score, terms in beam:
        chosen = list(terms)
        inverse = np.linalg.inv(gram[np.ix_(chosen, chosen)] + slab * np.eye(len(chosen)))
        cross = gram[:, chosen]
        left = moment - cross @ (inverse @ moment[chosen])
        information = np.diag(gram) - np.einsum("ij,jk,ik->i", cross, inverse, cross)
        gain = log_prior + _gain(left, np.maximum(information, 0.0), slab)
        gain[chosen] = -np.inf
        for k in np.argsort(-gain)[:BEAM]:
            grown[tuple(sorted((*terms, int(k))))] = score + float(gain[k])
    return sorted(((score, terms) for terms, score in grown.items()), reverse=True)[:BEAM]
