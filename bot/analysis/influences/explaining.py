"""Which terms influence which methods and the whole program, with intervals and shares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from bot.analysis.influences.basis import Columns
from bot.analysis.influences.contrasts import BACKGROUNDS, Contrast, Valid, contrast
from bot.analysis.influences.costs import Floats
from bot.analysis.influences.curves import LevelCurves
from bot.analysis.influences.estimates import Estimate, estimate
from bot.analysis.influences.fitting import Left, unlimited
from bot.analysis.influences.learning import InfluenceModels, Learnt
from bot.analysis.influences.levels import levels_of, main_levels
from bot.model.space import Configuration, Level, Space, Term

LEADING = 3
"""The strongest levels of each method whose pairs are looked at for interactions."""
PAIRS = 40
"""Pairs of levels at most: those that the costliest methods have among their strongest levels."""
PIECE = 1000
"""Configurations that a model predicts at once: a Gaussian process needs a matrix of them."""
TOLD = 0.01
"""Smallest influence on a method that is told, as a share of its mean cost, by the model alone.

By the model alone, because an interval is only right for a term that the probe did not choose.
"""
SURE = 2.0
"""Of hundreds of influences, dozens leave zero out of a 90 % interval by chance; hardly any out of one so
many times as wide."""


@dataclass(frozen=True)
class TermInfluence:
    """What a term adds to the cost of a method (None: the whole program), in `InfluenceModels.quantity_`.

    Of a level: how much its configurations cost more than the same ones without it; of two levels: what they
    cost beyond the sum of both; of `()`: the mean cost of random configurations. share: of the system's
    influence of the same term (where that may be zero: of the sum of the methods' absolute influences); of
    the system: of its mean cost. The interval covers in 90 %. curve: of a level of a number, its values and
    the mean cost at each.
    """

    method: str | None
    term: Term
    influence: float
    interval: tuple[float, float]
    share: float
    error: float
    noise_floor: float
    curve: tuple[tuple[float, float], ...] = ()

    @property
    def sure(self) -> bool:
        """Whether it is told."""
        return clear(self.influence, self.interval)


def clear(influence: float, interval: tuple[float, float]) -> bool:
    """Whether an interval `SURE` times as wide leaves zero out."""
    return abs(influence) > SURE * (interval[1] - interval[0]) / 2


def explain(
    models: InfluenceModels,
    population: Sequence[Configuration],
    *,
    valid: Valid,
    rng: np.random.Generator,
    left: Left = unlimited,
) -> tuple[TermInfluence, ...]:
    """Influences of the system and of all learnt methods that got the full choice of models.

    population: random valid configurations, a few hundred, drawn as the probe was. left: seconds; without any
    pairs of levels and curves are left out. Sorted: the system first, then methods by mean cost; terms by
    size, `()` first.
    """
    learnt = [models.system_, *models.models_[models.quantity_]]
    told = [m for m in learnt if m.state == "learnt" and (m.effort == "full" or m.method is None)]
    if not told:
        return ()
    space = models.sample_.space
    make = partial(
        contrast,
        space,
        population=population,
        probe=models.probe_.configurations,
        sample=models.sample_.configurations,
        valid=valid,
        rng=rng,
    )
    mains = [found for level in main_levels(space) if (found := make([level])) is not None]
    everywhere = tuple((c,) for c in population[:BACKGROUNDS])
    known = len(models.probe_.configurations) + len(models.sample_.configurations)
    mains.append(Contrast((), everywhere, np.ones(1), np.zeros(known, dtype=np.intp)))
    singles = _estimates(models, told, mains)
    asked = _pairs(space, singles) if left() > 0.0 else []
    pairs = [found for levels in asked if left() > 0.0 and (found := make(levels)) is not None]
    doubles = _estimates(models, told, pairs)
    shared = _shared(space, told, [{**a, **b} for a, b in zip(singles, doubles, strict=True)])
    curves = LevelCurves(models, population[:BACKGROUNDS], valid)
    by_name = {m.method: m for m in told}
    return tuple(_curved(i, by_name[i.method], curves, space) if left() > 0.0 else i for i in shared)


def _curved(influence: TermInfluence, learnt: Learnt, curves: LevelCurves, space: Space) -> TermInfluence:
    if len(influence.term) != 1 or not influence.sure:
        return influence
    option = space.options[space.index[space.level_of[influence.term[0]].option]]
    curve = curves.of(learnt, option.name) if option.kind == "number" else None
    return influence if curve is None else replace(influence, curve=curve.points)


def _estimates(
    models: InfluenceModels, told: Sequence[Learnt], contrasts: Sequence[Contrast]
) -> list[dict[Term, Estimate]]:
    """Of each method the estimates of all contrasts; every model is asked once, about all of them."""
    if not contrasts:
        return [{} for _ in told]
    versions = [v for c in contrasts for versions in c.versions for v in versions]
    distinct = {v: k for k, v in enumerate(dict.fromkeys(versions))}  # backgrounds come again and again
    places = np.array([distinct[v] for v in versions], dtype=np.intp)
    asked = models.basis_.columns(list(distinct))
    residuals = _residuals(models, told)
    probe = len(models.probe_.configurations)
    work = Parallel()
    found: list[dict[Term, Estimate]] = list(
        work(
            delayed(_asked)(m, asked, places, left, probe, contrasts)
            for m, left in zip(told, residuals, strict=True)
        )
    )
    return found


def _residuals(models: InfluenceModels, told: Sequence[Learnt]) -> list[Floats]:
    """Measured minus predicted by models that had not seen it: of the probe, then of the sample."""
    quantity = models.quantity_
    tables = models.probe_, models.sample_
    means = [table.means(quantity) for table in tables]
    asked = models.basis_.columns(models.probe_.configurations)
    place = {name: j for j, name in enumerate(models.probe_.methods)}
    found = []
    for m in told:
        assert m.model is not None and m.held_out is not None
        truth = [each.sum(axis=1) if m.method is None else each[:, place[m.method]] for each in means]
        found.append(np.concatenate([truth[0] - m.model.predict(asked), truth[1] - m.held_out]))
    return found


def _asked(
    learnt: Learnt,
    asked: Columns,
    places: NDArray[np.intp],
    residuals: Floats,
    probe: int,
    contrasts: Sequence[Contrast],
) -> dict[Term, Estimate]:
    """Estimates of all contrasts; places: rows in `asked` of their versions, one contrast after the other."""
    assert learnt.model is not None
    pieces = [slice(start, start + PIECE) for start in range(0, len(asked.values), PIECE)]
    predicted = np.concatenate([learnt.model.predict(asked.rows(piece)) for piece in pieces])
    found: dict[Term, Estimate] = {}
    start = 0
    for one in contrasts:
        shape = (len(one.versions), len(one.signs))
        mine = predicted[places[start : start + shape[0] * shape[1]]].reshape(shape)
        start += mine.size
        told = estimate(mine, one.signs, sides=one.sides, residuals=residuals, probe=probe)
        if told is not None:
            found[one.term] = told
    return found


def _pairs(space: Space, singles: Sequence[dict[Term, Estimate]]) -> list[tuple[Level, Level]]:
    """Pairs among the strongest levels of each method, those that costly methods have first."""
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for found in singles:
        strongest = [t for t in _kept(space, found) if t][:LEADING]
        for pair in combinations(sorted(strongest), 2):
            one, two = (str(_even(space, space.level_of[t[0]])) for t in pair)
            weights[one, two] += min(abs(found[t].modelled) for t in pair)
    ranked = sorted(weights, key=lambda p: (-weights[p], p))[:PAIRS]
    return [(space.level_of[a], space.level_of[b]) for a, b in ranked]


def _even(space: Space, level: Level) -> Level:
    """Of a number the cut nearest to half of its values: both sides of it are in every probe."""
    option = space.options[space.index[level.option]]
    if option.kind != "number":
        return level
    cuts = levels_of(space, option)
    return max(cuts, key=lambda cut: _spread(space, (str(cut),)))


def _kept(space: Space, found: dict[Term, Estimate]) -> dict[Term, Estimate]:
    """Terms worth telling of one method: of each number the best cut, and no small ones.

    First what varies the cost most: a large influence of a rare level does so less than one of a half.
    """
    mean = abs(found[()].value) if () in found else 0.0
    order = sorted((t for t in found if t), key=lambda t: (-abs(found[t].modelled) * _spread(space, t), t))
    kept: dict[Term, Estimate] = {(): found[()]} if () in found else {}
    cut: set[tuple[str, ...]] = set()
    for term in order:
        if abs(found[term].modelled) < TOLD * mean:
            continue
        options = [space.options[space.index[space.level_of[text].option]] for text in term]
        key = tuple(o.name if o.kind == "number" else t for o, t in zip(options, term, strict=True))
        if key not in cut:
            cut.add(key)
            kept[term] = found[term]
    return kept


def _spread(space: Space, term: Term) -> float:
    """Standard deviation of whether the term holds, over independent values."""
    result = 1.0
    for text in term:
        level = space.level_of[text]
        values = space.options[space.index[level.option]].values
        share = sum(map(level.holds, values)) / len(values)
        result *= float(np.sqrt(share * (1.0 - share)))
    return result


def _shared(
    space: Space, told: Sequence[Learnt], found: Sequence[dict[Term, Estimate]]
) -> tuple[TermInfluence, ...]:
    """The terms worth telling of each method with their shares of the whole."""
    by_method = {m.method: estimates for m, estimates in zip(told, found, strict=True)}
    order = sorted(told, key=lambda m: (m.method is not None, -_mean(by_method[m.method]), m.method or ""))
    result = []
    for m in order:
        estimates = by_method[m.method]
        for term, one in _kept(space, estimates).items():
            whole = _mean(estimates) if m.method is None else _whole(by_method, term)
            share = one.value / whole if whole else 0.0
            result.append(
                TermInfluence(m.method, term, one.value, one.interval, share, m.error, m.noise_floor)
            )
    return tuple(result)


def _mean(estimates: dict[Term, Estimate]) -> float:
    return estimates[()].value if () in estimates else 0.0


def _whole(by_method: Mapping[str | None, dict[Term, Estimate]], term: Term) -> float:
    """The system's influence, if it is told; else the sum of the methods' absolute ones."""
    system = by_method.get(None, {}).get(term)
    if system is not None and clear(system.value, system.interval):
        return system.value
    return sum(abs(f[term].value) for m, f in by_method.items() if m is not None and term in f)
