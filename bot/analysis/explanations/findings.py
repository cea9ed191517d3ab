"""The steps of explanations: what carries them, in the plainest words, and how sure it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from bot.analysis.change_points.findings import complementary
from bot.analysis.change_points.terms import Term, Terms
from bot.analysis.explanations.cells import Bools, Floats, Ints
from bot.analysis.explanations.ensemble import Ensemble
from bot.analysis.explanations.evidence import Evidence
from bot.analysis.explanations.wordings import agreement, in_shared_words, kinship, shared_terms

SURE = 0.9
"""Probability from which on a step's name needs no further trials, and it is told."""
LIKELY, KIN = 0.5, 0.95
"""... and from which on it is told, when with this one a step of its levels, alone or with more, is there."""
CLEAR = 4.0
"""Standard errors that its size must have."""
NEAR = 2
"""Measured revisions around a step at which its term may be meant, too."""
HEARD = 0.01
"""Mass from which on another term may stand for the same."""
COMPARED = 96
"""Explanations that are asked whether they mean the same in other words."""
WITHIN = 0.9
"""Probability that the interval of revisions holds."""


@dataclass(frozen=True)
class Found:
    """A step of the best explanation: what carries it, where, how large (in units), how probable.

    clarity: its size in standard errors; of a term that moves in seconds and by a share at once, that of both
    together, for trials that tell their sum need not tell one from the other. kinship: how probable it is
    that there moves the term or one that contains it. outweighed: other steps move whom it moves the other
    way, and further.
    """

    term: Term
    share: bool
    at: int
    low: int
    high: int
    size: float
    clarity: float
    probability: float
    kinship: float = 0.0
    outweighed: bool = False

    @property
    def clear(self) -> bool:
        """Whether it is large against its error."""
        return self.clarity >= CLEAR

    @property
    def sure(self) -> bool:
        """Whether most explanations share it."""
        return self.probability >= SURE

    @property
    def told(self) -> bool:
        """Whether its name is the best one by far for what moves there: at worst, it is too short."""
        return self.sure or (self.probability >= LIKELY and self.kinship >= KIN)

    @property
    def certain(self) -> bool:
        """Whether it is told as a change point."""
        return self.clear and self.told and not self.outweighed


@dataclass(frozen=True)
class Look:
    """The explanations of one look at the trials, and all that it takes to put them in words.

    best, mass: of an `Ensemble`. drawn: other explanations. holds: levels of all configurations that may be
    measured, (n_configurations, n_levels). usable: where they may have a value, (n_configurations,
    n_revisions). least: smaller differences do not matter (a share of the level).
    """

    best: Sequence[int]
    mass: Floats
    drawn: Sequence[Sequence[int]]
    evidence: Evidence
    terms: Terms
    holds: Bools
    usable: Bools
    least: float

    @classmethod
    def of(
        cls,
        ensemble: Ensemble,
        evidence: Evidence,
        terms: Terms,
        *,
        holds: Bools,
        usable: Bools,
        least: float = 0.01,
    ) -> Self:
        """What an ensemble shows."""
        drawn = ensemble.explanations(COMPARED) if ensemble.best_ else []
        return cls(ensemble.best_, ensemble.mass_, drawn, evidence, terms, holds, usable, least)

    def level(self, term: Term) -> float:
        """Median level of the measured configurations that hold a term, in units (1: none was measured)."""
        held = self.terms.cover(term, self.holds)
        found = [level for c, level in self._levels.items() if held[c]]
        return float(np.median(found)) if found else 1.0

    @cached_property
    def _levels(self) -> Mapping[int, float]:
        return {c: float(self.evidence.levels()[c]) for c in self.evidence.table.levels()}


def covers_of(found: Sequence[Found], terms: Terms, holds: Bools) -> Floats:
    """Configurations that hold each step's term, (n_steps, n_configurations) of 0 and 1."""
    rows = [terms.cover(step.term, holds) for step in found]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(holds))


def agreed(look: Look) -> list[Found]:
    """The steps of the best explanation, in the words of the others where more can be told in these.

    Of many explanations that say nearly the same, the best one may be alone with a name.
    """
    chosen, found = look.best, steps_of(look)
    if not chosen:  # nothing was drawn to compare with, either
        return found
    for place, shared in shared_terms(look.mass, look.evidence, LIKELY).items():
        reworded = in_shared_words(chosen, place, shared, look.mass, look.evidence, LIKELY)
        if reworded != chosen and _names(other := steps_of(look, reworded)) > _names(found):
            chosen, found = reworded, other
    for finer in _finer(chosen, look.evidence):
        plainer = steps_of(look, [j for j in chosen if j != finer])
        gained = _names(plainer) - _names(found)
        lost = {(s.at, s.term) for s in found} - {(s.at, s.term) for s in plainer}
        if gained and not lost & _names(found):
            found = [s for s in found if (s.at, s.term) not in gained | lost]
            found += [s for s in plainer if (s.at, s.term) in gained]
    return sorted(found, key=lambda s: (s.at, look.terms.named(s.term)))


def _finer(chosen: Sequence[int], evidence: Evidence) -> list[int]:
    """Steps that another one of their place and of fewer levels comes with.

    Where a term moves some of its configurations further than others both may be too small to be told,
    though all that hold the term surely move.
    """
    at = [(j, j % evidence.places, set(evidence.kinds.name(j // evidence.places))) for j in chosen]
    return [j for j, place, term in at if any(place == p and other < term for _, p, other in at)]


def _names(found: Sequence[Found]) -> set[tuple[int, Term]]:
    """Revisions and terms that are told."""
    return {(step.at, step.term) for step in found if step.certain}


def steps_of(look: Look, chosen: Sequence[int] | None = None) -> list[Found]:
    """The steps of the best explanation, or of another one, probable or not, in order of revision."""
    chosen = look.best if chosen is None else chosen
    if not chosen:
        return []
    evidence, terms, holds, usable = look.evidence, look.terms, look.holds, look.usable
    mean, _ = evidence.sizes(chosen)
    same = agreement(chosen, look.drawn, evidence, usable=usable, least=look.least)
    kin = kinship(chosen, look.drawn, evidence)
    mass = look.mass.reshape(len(evidence.kinds), evidence.places)
    whole = {j % evidence.places for j in chosen if evidence.kinds.term[j // evidence.places] == 0}
    others: dict[int, list[int]] = defaultdict(list)
    for j in chosen:
        others[int(evidence.kinds.term[j // evidence.places])].append(j % evidence.places)
    heard = evidence.kinds.term[mass.max(axis=1) > HEARD]
    words = []
    for kind, place in (divmod(j, evidence.places) for j in chosen):
        around = usable[:, evidence.cuts[place]] & usable[:, evidence.cuts[place + 1]]
        number = int(evidence.kinds.term[kind])
        words.append(
            _alike(terms, number, heard, evidence.kinds.grown, holds=holds[around], whole=place in whole)
        )
    clarity = _clarity(
        chosen,
        evidence,
        [plainest for plainest, _ in words],
        lambda number: look.level(terms.term(number, evidence.kinds.grown)),
    )
    found = []
    for k, (candidate, (plainest, alike)) in enumerate(zip(chosen, words, strict=True)):
        kind, place = divmod(candidate, evidence.places)
        number = int(evidence.kinds.term[kind])
        own = mass[np.isin(evidence.kinds.term, alike)].sum(axis=0)
        first, last, probability = _interval(own, place, others[number])
        found.append(
            Found(
                term=terms.term(plainest, evidence.kinds.grown),
                share=bool(evidence.kinds.share[kind]),
                at=int(evidence.cuts[place + 1]),
                low=int(evidence.cuts[first]) + 1,
                high=int(evidence.cuts[last + 1]),
                size=float(mean[k]),
                clarity=clarity[k],
                probability=max(probability, float(same[k])),
                kinship=float(kin[k]),
            )
        )
    plainer = _plainer(found, look.level)
    return sorted(plainer, key=lambda s: (s.at, terms.named(s.term)))


def _alike(
    terms: Terms, number: int, heard: Ints, grown: Sequence[Term], *, holds: Bools, whole: bool
) -> tuple[int, list[int]]:
    """The plainest term that says the same as one, and all that do.

    The same: in all configurations, or in all that work there; absent, where everything moves, too.
    """
    own = terms.term(number, grown)
    mine = terms.cover(own, holds)
    flag = len(own) == 1 and own[0].operator in ("on", "off")
    same, opposite = [number], []
    for other in (int(x) for x in np.unique(heard) if x != number):
        term = terms.term(other, grown)
        if np.array_equal(terms.cover(term, holds), mine):
            same.append(other)
        elif whole and flag and len(term) == 1 and complementary(own[0], term[0]):
            opposite.append(other)
    return max(same, key=lambda n: float(terms.log_priors(grown)[n])), [*same, *opposite]


def _interval(mass: Floats, place: int, others: Sequence[int]) -> tuple[int, int, float]:
    """First and last place around one that hold most of a term's nearby mass, and that mass.

    Up to the other steps of the term; and of one step there is no more mass than 1: what is above it is of
    further ones, which the best explanation does not hold.
    """
    low = max([place - NEAR, 0, *(p + 1 for p in others if p < place)])
    high = min([place + NEAR, len(mass) - 1, *(p - 1 for p in others if p > place)])
    whole = min(float(mass[low : high + 1].sum()), 1.0)
    first = last = place
    while mass[first : last + 1].sum() < WITHIN * whole and (first > low or last < high):
        before = mass[first - 1] if first > low else -1.0
        after = mass[last + 1] if last < high else -1.0
        first, last = (first - 1, last) if before >= after else (first, last + 1)
    return first, last, whole


def _clarity(
    chosen: Sequence[int], evidence: Evidence, words: Sequence[int], level: Callable[[int], float]
) -> list[float]:
    """Of each step, its size in standard errors, with the others at its place that are told as the same term.

    words: the number of that term, by step.
    level: of the median configuration that holds a term, in units: there, seconds and shares are compared.
    """
    mean, covariance = evidence.sizes(chosen)
    kinds, places = np.divmod(np.array(chosen), evidence.places)
    terms = np.array(words)
    factor = np.array(
        [level(t) if evidence.kinds.share[k] else 1.0 for t, k in zip(terms, kinds, strict=True)]
    )
    found = []
    for term, place in zip(terms, places, strict=True):
        whole = factor * ((terms == term) & (places == place))
        found.append(float(abs(whole @ mean) / np.sqrt(whole @ covariance @ whole)))
    return found


def _plainer(found: Sequence[Found], level: Callable[[Term], float]) -> list[Found]:
    """Without absent options where everything moves, too.

    Everything by x and without a by y is the same as everything by x + y and with a by -y. Seconds and
    shares are told in the kind of the step of everything, at the level of the configurations without a.
    """
    steps = list(found)
    for i, absent in enumerate(steps):
        if len(absent.term) != 1 or absent.term[0].operator != "off":
            continue
        for j, whole in enumerate(steps):
            if whole.term == () and whole.at == absent.at:
                factor = level(absent.term) if absent.share else 1.0 / level(absent.term)
                factor = 1.0 if whole.share == absent.share else factor
                present = (replace(absent.term[0], operator="on", value=True),)
                size = factor * absent.size
                grown = abs(whole.size + size) / max(abs(whole.size), 1e-12)
                steps[j] = replace(whole, size=whole.size + size, clarity=whole.clarity * grown)
                steps[i] = replace(absent, term=present, size=-size, share=whole.share)
                break
    return steps
