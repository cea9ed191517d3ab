"""What history lets a pull request expect: how often which terms change, which configurations are noisy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates, Group
from bot.analysis.noise_pattern import WILDEST, expected_noise
from bot.analysis.pairs import Floats
from bot.analysis.past_changes import PastChange
from bot.analysis.past_sizes import Sizes, sizes
from bot.analysis.past_steps import CHANGES
from bot.model.space import Configuration, Space, Term

MOST_WEIGHT = 0.35
"""History's share of the prior at most: where it is wrong it costs 0.43 of log evidence; a pair wins 0.69."""
MOST_SIZES = 0.5
"""The same for sizes: where they are wrong that costs at most 0.69 of log evidence, one pair."""
KIN, KNOWN_KIN = 0.25, 4.0
"""Share of a known change that speaks for other terms of the same options beforehand, and how many changes
that is worth."""
USUAL, REVISIONS = 0.05, 20.0
"""Changes of a revision beforehand (a judgement), and how many revisions that is worth."""
FEW = 8.0
"""Differences that a configuration's noise must be known from to count half."""
RARE = 0.45
"""Of a term that holds in a smaller share of all values of its options an even sample shows little."""
SEEN = 0.9
"""A rare term that changed so often (by its probabilities) is exercised: who changed once changes again more
often than others. From 1.5 on pairs were found later; from 0.6 on, history that misleads costs more."""
FEWEST = 2
"""Configurations of known noise from which on there is a pattern."""


@dataclass(frozen=True)
class Expected:
    """What history says of one metric.

    changes: in order of place. revisions: how many were compared with the one before. noise: standard
    deviation of a pair's log ratio and how many differences it is known from.
    """

    changes: tuple[PastChange, ...] = ()
    revisions: int = 0
    noise: Mapping[Configuration, tuple[float, int]] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Changes to expect of one more revision."""
        return (len(self.changes) + USUAL * REVISIONS) / (self.revisions + REVISIONS)

    @property
    def weight(self) -> float:
        """History's share of the prior: it grows with the changes it knows."""
        return min(self._known, MOST_WEIGHT)

    @property
    def _known(self) -> float:
        """What the known changes weigh beside the belief without history."""
        return len(self.changes) / (len(self.changes) + CHANGES)

    def informed(self, found: Candidates, space: Space) -> Candidates:
        """Candidates whose prior is a mixture of the one without history and of what changed before.

        A mixture, so that nothing becomes impossible: whoever history does not know keeps `1 - weight`.
        """
        exact, kin = self._blame(found, space)
        blamed = [sum(masses) for masses in exact] + kin
        total = float(blamed.sum())
        if total <= 0.0:
            return found
        weight = self.weight / total
        groups = tuple(
            Group(
                group.terms,
                tuple(
                    (1.0 - self.weight) * mass + weight * (own + k * mass / prior)
                    for mass, own in zip(group.masses, masses, strict=True)
                ),
            )
            for group, masses, k, prior in zip(found.groups, exact, kin, found.prior, strict=True)
        )
        return replace(found, groups=groups, prior=(1.0 - self.weight) * found.prior + weight * blamed)

    def hoped(self, found: Candidates, space: Space) -> NDArray[np.bool_]:
        """Candidates that history makes likelier, (n_terms,)."""
        return np.asarray(self.informed(found, space).prior > found.prior, dtype=bool)

    def sizes(self, found: Candidates) -> Sizes | None:
        """How large changes of these candidates are likely to be; None: nothing is known."""
        return sizes(self.changes, found, min(self._known, MOST_SIZES))

    def shares(self) -> dict[Term, float]:
        """How many known changes were in each term, by their probabilities."""
        found: dict[Term, float] = {}
        for change in self.changes:
            for term, share in change.shares.items():
                found[term] = found.get(term, 0.0) + share
        return found

    def kin(self, space: Space) -> float:
        """Share of a known change that speaks for other terms of the same options.

        As often as a change was in a new term of options that changed before, and not in the same term again.
        """
        again, new = 0, 0
        seen: dict[Term, frozenset[str]] = {}
        for term in filter(None, (change.term for change in self.changes)):
            options = _options(term, space)
            again += term in seen
            new += term not in seen and any(options & others for others in seen.values())
            seen[term] = options
        return (new + KIN * KNOWN_KIN) / (again + new + KNOWN_KIN)

    def _blame(self, found: Candidates, space: Space) -> tuple[list[list[float]], Floats]:
        """How many known changes were in each term of each group, and in terms of the same options."""
        shares, related_share = self.shares(), self.kin(space)
        alone = {term: 1.0 if not _options(term, space) else 1.0 - related_share for term in shares}
        exact = [[alone.get(t, 0.0) * shares.get(t, 0.0) for t in group.terms] for group in found.groups]
        kin = np.zeros(len(found.groups))
        options = [
            _options(group.terms[0], space) if kind != "configuration" else frozenset()
            for group, kind in zip(found.groups, found.kinds, strict=True)
        ]
        for term, share in shares.items():
            mine = _options(term, space)
            related = found.prior * np.array([bool(mine & theirs) for theirs in options])
            if related.any():
                kin += related_share * share * related / related.sum()
        return exact, kin

    def pattern(self, configurations: Sequence[Configuration]) -> Floats:
        """How noisy each configuration is beside the others, (n,): 1 where nothing is known.

        What is known of itself counts by its differences, the rest is what its values let expect.
        Only the pattern is taken over: how noisy the machine is today, this run's own pairs say.
        """
        known = {c: (scale, count) for c, (scale, count) in self.noise.items() if scale > 0}
        if len(known) < FEWEST:
            return np.ones(len(configurations))
        log = expected_noise(known, configurations)
        middle = np.median([math.log(scale) for scale, _ in known.values()])
        for place, configuration in enumerate(configurations):
            if configuration in known:
                scale, count = known[configuration]
                own = math.log(scale) - middle
                log[place] += (own - log[place]) * count / (count + FEW)
        pattern: Floats = np.clip(np.exp(log), 1.0 / WILDEST, WILDEST)
        return pattern


@dataclass(frozen=True)
class Experience:
    """What history says of each metric, and of each configuration how many trials were made and failed."""

    metrics: Mapping[str, Expected] = field(default_factory=dict)
    trials: Mapping[Configuration, tuple[int, int]] = field(default_factory=dict)

    def rare(self, space: Space) -> tuple[Term, ...]:
        """Terms that surely changed and hold in few configurations, the most often changed first."""
        shares = [expected.shares() for expected in self.metrics.values()]
        most = {term: max(s.get(term, 0.0) for s in shares) for term in set().union(*shares)}
        found = [t for t, share in most.items() if share >= SEEN and _evenly(t, space) < RARE]
        return tuple(sorted(found, key=lambda t: (-most[t], t)))


def _options(term: Term, space: Space) -> frozenset[str]:
    """Options that a term names."""
    return frozenset(space.level_of[level].option for level in term)


def _evenly(term: Term, space: Space) -> float:
    """Share of the combinations of its options' values in which a term holds."""
    share = 1.0
    for text in term:
        level = space.level_of[text]
        values = space.options[space.index[level.option]].values
        share *= sum(level.holds(value) for value in values) / len(values)
    return share
