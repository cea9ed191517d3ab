"""How much blurs steps, learned from trials beside known steps; and how probable trials are under it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, block_diag, cho_factor, cho_solve, helmert, lapack

from bot.analysis.explanations.cells import DOUBT, Floats, Table
from bot.analysis.explanations.scales import LARGE, SLAB, Scales

NOISES = (5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28)
LIVELY = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Candidates: relative noise of a trial; and a factor on what else blurs."""
CALMER, CALMER_FROM = 0.25, 60
"""Standard deviation beforehand of how much livelier than usual a program is (log), from so many cells on:
what few steps leave unexplained passes for liveliness, in which all other steps hide. With fewer cells a
search that believes in little blur would be sure of the first names it finds."""
UNEVEN = (0.0, 0.1, 0.2, 0.4)
"""Candidates: how far a configuration's own move is off the sum of its steps, as a share of these."""
FREE, SEVERAL = 10.0, 3
"""Of fewer configurations a slab so many times wider says how uneven moves are: beside a narrow one a single
configuration that moves far looks uneven, and its step would never be clear."""
ODD, RARE = 4.5, math.log(0.02)
"""Standard deviations from what all others let expect, from which a cell is odd; how rare that is."""
USUAL, SPREAD = math.log(0.01), 1.2
"""Log noise beforehand: mean and standard deviation."""
NOISIER, RARELY = (1.0, 2.0, 4.0, 8.0), math.log(0.05)
"""Candidates: the factor by which an option that is on makes a trial noisier; how rare any but 1 is."""
ROUNDS, FEWEST, MOST_TRIED = 2, 3, 3000
"""Factors that may change at a look; options that are tried: at least, and times trials (they take time)."""
MOST_MOVES = 4
"""Of a configuration, that are imagined instead of noise."""
FAINT, ROUNDING = 0.1, 1e-12
"""Added to squares before their logarithm; and to variances, as a share of each, that rounding made none."""


def learn(
    scales: Scales,
    table: Table,
    on: Floats,
    *,
    steps: Floats,
    sizes: Floats,
    moved: Floats | None = None,
) -> Scales:
    """The scales under which the trials are most probable, given where steps are.

    steps: a column for each step, (n, k), as in a design matrix. sizes: of these, (k,).
    moved: see `Scales.covariance`.
    Marginal likelihood (type II), one scale after the other, over a few candidates. Where noise is believed
    no trial is expected to teach much, and what was wrong would stay: that an option is noisy is believed
    when second trials of cells say so, or, where values repeat, when it explains more than moves would.
    """

    def fits(candidate: Scales) -> float:
        return likelihood(candidate, table, on, steps, moved)

    scales = replace(scales, slab=max(SLAB, float(np.abs(sizes).max(initial=0.0)) / LARGE))
    scales = max((replace(scales, lively=max(x, scales.least)) for x in LIVELY), key=fits)
    scales = max((replace(scales, noise=x) for x in NOISES), key=fits)
    few = len(np.unique(table.configuration)) < SEVERAL
    free = replace(scales, slab=(FREE if few else 1.0) * scales.slab)
    scales = replace(scales, uneven=max(UNEVEN, key=lambda x: fits(replace(free, uneven=x))))
    return _noisy_options(scales, table, on, steps, moved)


def _noisy_options(scales: Scales, table: Table, on: Floats, steps: Floats, moved: Floats | None) -> Scales:
    """With the options that are believed to make trials noisier, and those that may."""
    scales, suspected = replace(scales, noisier=_confirmed(scales, table, on)), set[int]()
    for _ in range(ROUNDS):
        far = _far(_factor(_covariance(scales, table, on, steps, moved)), _values(table, scales))
        candidates = _noisier(scales, on[table.configuration], far)
        fit = {x: likelihood(x, table, on, steps, moved) for x in candidates}
        known = likelihood(scales, table, on, steps, moved)
        best = sorted((x for x in fit if fit[x] > known), key=fit.__getitem__, reverse=True)
        for x in (scales, *best[:1]):
            suspected.update(i for i, factor in enumerate(x.noisier) if factor > 1.0)
        if table.repeats:
            believed = (x for x in best if x.noisier == _confirmed(x, table, on))
        else:
            believed = (x for x in best if fit[x] - RARELY > _of_moves(scales, x, table, on, steps, moved))
        found = next(believed, None)
        if found is None:
            break
        scales = found
    return replace(scales, suspected=tuple(sorted(suspected)))


def _confirmed(scales: Scales, table: Table, on: Floats) -> tuple[float, ...]:
    """The factors that second trials speak for, 1 for others; all where values repeat.

    What scatters from cell to cell may have moved; noise shows within a cell.
    """
    if not table.repeats:
        return scales.noisier
    more = table.count > 1
    c = table.configuration[more]
    own = scales.noises(on)[c] * table.level()[more]
    as_it_is, found = _scatter(table, more, own), []
    for held, factor in zip(on[c].T > 0.0, scales.noisier, strict=False):  # no factors: none differs from 1
        gain = _scatter(table, more, own / factor) - as_it_is
        found.append(factor if gain[held].sum() > 0.0 else 1.0)
    return tuple(found)


def _scatter(table: Table, more: NDArray[np.bool_], own: Floats) -> Floats:
    """Minus the log density of what repetitions of these cells say beside their mean, but for a constant.

    own: standard deviation of a trial of each of them, in seconds, as the answer (n_more,).
    """
    repeated = table.count[more] - 1
    far = np.minimum(table.within[more] / own**2, ODD**2 * repeated)
    found: Floats = far / 2.0 + repeated * np.log(own)
    return found


def _of_moves(
    scales: Scales, noisier: Scales, table: Table, on: Floats, steps: Floats, moved: Floats | None
) -> float:
    """Log density if each configuration that is taken to be noisier moved now and then, and stayed so.

    What goes to and fro is noise. Of what stayed it is not known.
    """
    precision = np.linalg.inv(_covariance(scales, table, on, steps, moved))
    y, variance, columns, prior = _values(table, scales), (FREE * scales.slab) ** 2, [steps], 0.0
    for c in np.flatnonzero(noisier.noises(on) > scales.noises(on)):
        own = table.configuration == c
        after = own & (table.revision >= table.revision[own][1:, None])
        free = np.ones(len(after), dtype=bool)
        for _ in range(MOST_MOVES):
            if not free.any():
                break
            seen = after @ precision
            information = 1.0 + variance * (seen * after).sum(axis=1)
            gain = variance * (seen @ y) ** 2 / information - np.log(information)
            best = int(np.argmax(np.where(free, gain, -np.inf)))
            if gain[best] / 2.0 < math.log(len(after)):
                break
            prior -= math.log(len(after))
            columns.append(FREE * after[[best]].T)
            free[[0, -1, *range(max(best - 1, 0), min(best + 2, len(free)))]] = False
            precision = precision - variance / information[best] * np.outer(seen[best], seen[best])
    return prior + likelihood(scales, table, on, np.hstack(columns), moved)


def _noisier(scales: Scales, on: Floats, far: Floats) -> Iterator[Scales]:
    """With another factor for one of the options: of many trials, for those that look noisiest beside it.

    Of options and not of configurations, each of which is known by few trials. on: options of each cell,
    (n, n_options). far: how far each cell is off what the others let expect, in standard deviations, (n,).
    """
    known = scales.noisier or (1.0,) * on.shape[1]
    size = np.log(far**2 + FAINT)
    with_it, without = (size @ x / np.maximum(x.sum(axis=0), 1.0) for x in (on, 1.0 - on))
    for i in np.argsort(without - with_it)[: max(FEWEST, MOST_TRIED // len(on))].tolist():
        for factor in NOISIER:
            if factor != known[i]:
                yield replace(scales, noisier=(*known[:i], factor, *known[i + 1 :]))


def _values(table: Table, scales: Scales) -> Floats:
    """Of all cells, in units, around their mean."""
    found: Floats = (table.value - table.value.mean()) / scales.unit
    return found


def _covariance(
    scales: Scales,
    table: Table,
    on: Floats,
    steps: Floats,
    moved: Floats | None,
    *,
    doubt: Floats | float = 1.0,
) -> Floats:
    """Of all cells, steps of unknown sizes included."""
    doubt = np.broadcast_to(doubt, len(table.value))
    found = scales.covariance(table, on, moved, doubt=doubt)
    wide = scales.slab * steps
    found += wide @ wide.T
    return found


def _factor(covariance: Floats) -> Floats:
    """Its lower Cholesky factor; what is above the diagonal is of no use."""
    try:
        return np.asarray(cho_factor(covariance, lower=True, check_finite=False)[0])
    except LinAlgError:  # beside steps a million times its noise rounding leaves less than nothing
        some = covariance + ROUNDING * np.diag(np.diag(covariance))
        return np.asarray(cho_factor(some, lower=True, check_finite=False)[0])


def _far(factor: Floats, y: Floats) -> Floats:
    """How far each cell is off what all the others let expect, in standard deviations.

    factor: of the covariance, whose inverse costs a third by it.
    """
    diagonal = np.diag(lapack.dpotri(factor, lower=1)[0])
    # Beside steps a million times its noise rounding may leave nothing of a cell.
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, np.inf))
    found: Floats = cho_solve((factor, True), y, check_finite=False) / scale
    return found


def likelihood(
    scales: Scales,
    table: Table,
    on: Floats,
    steps: Floats,
    moved: Floats | None,
    *,
    in_seconds: bool = False,
) -> float:
    """Log density of the trials, but for a constant; odd cells count as odd, not as a sign of noise.

    in_seconds: to be compared with that of a table in other units, of which levels must know nothing: what
    differs within configurations counts (Patterson and Thompson, "Recovery of Inter-Block Information When
    Block Sizes are Unequal", 1971).
    """
    y = _values(table, scales)
    factor = _factor(_covariance(scales, table, on, steps, moved))
    odd = np.abs(_far(factor, y)) > ODD
    if odd.any() or in_seconds:
        covariance = _covariance(scales, table, on, steps, moved, doubt=np.where(odd, DOUBT, 1.0))
        if in_seconds:
            counts = np.unique(table.configuration, return_counts=True)[1].tolist()
            within = block_diag(*(helmert(n) for n in counts))
            y, covariance = within @ y, within @ covariance @ within.T
        factor = _factor(covariance)
    found = -0.5 * float(y @ cho_solve((factor, True), y, check_finite=False)) + float(odd.sum()) * RARE
    found += table.in_seconds(scales.unit) if in_seconds else 0.0
    found -= float(np.log(np.diag(factor)).sum())
    more = table.count > 1
    if more.any():
        own = (scales.noises(on)[table.configuration] * table.level())[more]
        found -= float(_scatter(table, more, own).sum())
    found += RARELY * sum(factor != 1.0 for factor in scales.noisier)
    if len(table.value) >= CALMER_FROM:
        found -= 0.5 * (max(math.log(scales.lively), 0.0) / CALMER) ** 2
    return float(found - 0.5 * ((math.log(scales.noise) - USUAL) / SPREAD) ** 2)
