"""One metric while its pairs arrive: the log of pairs, the bets on them, and what may be retired."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Candidates
from bot.analysis.laws import Costs
from bot.analysis.look import EARLY, FIRST, NEXT, SHARE, needed_score, standing_out
from bot.analysis.pairs import Floats, PairLog, locations, scales, trust
from bot.analysis.past_sizes import Sizes
from bot.analysis.power import smallest_visible
from bot.analysis.recorded import Recorded
from bot.analysis.recorded_look import RecordedLook
from bot.analysis.sequential import SINGLE, Bettor

FLOOR = 0.1
"""Smallest scale of a pair, in margins: a metric that never varies must not turn dust into evidence."""
STANDS = 2.0
"""Standard errors beyond its margin from which on a configuration stands out enough to be bet on."""
ALONE = 4.0
"""The same for a configuration with a single pair, which may be wild."""


class Watch:
    """All pairs of one metric, as harm: log(head / base), negated when higher is better.

    margin: log ratio that is not worth a reader's time. sign: -1 when higher is better. alpha: error rate of
    each direction, at any time. pattern: how noisy each configuration is believed to be beside the others.
    hoped: candidates that history makes likelier.
    rate: changes to expect of a pull request (None: nobody knows). sizes: how large changes of candidates are
    likely to be (None: as large as any). recorded: that values repeat and are noisy (None: each pair is
    another one), and how many pairs of each configuration, (n_configurations,), say something new.
    """

    def __init__(  # noqa: PLR0913  (all by keyword)
        self,
        found: Candidates,
        *,
        margin: float,
        sign: float,
        alpha: float,
        pattern: Floats | None = None,
        rate: float | None = None,
        hoped: NDArray[np.bool_] | None = None,
        sizes: Sizes | None = None,
        recorded: tuple[Recorded, NDArray[np.int64]] | None = None,
    ) -> None:
        n = found.covers.shape[1]
        self.pattern = np.ones(n) if pattern is None else pattern
        self.hoped = np.zeros(len(found.terms), dtype=bool) if hoped is None else hoped
        self.rate, self.sizes = rate, sizes
        self.found, self.margin, self.sign = found, margin, sign
        self.log = PairLog(n)
        self.scale = np.full(n, np.nan)
        self.bettor = Bettor(found, margin)
        self.log_bound = float(-np.log(alpha * (1.0 - SHARE)))
        self.look_alpha = alpha * SHARE * FIRST if recorded is None else alpha * (1.0 - NEXT)
        self.recorded = recorded
        self._early_alphas = [alpha * SHARE * share for share in EARLY]
        self._looked = 0
        self._stood_out = np.zeros(2, dtype=bool)
        self._pending: list[tuple[int, float, float]] = []
        self._least = np.full((2, n), np.inf)

    def extend(self, pattern: Floats) -> None:
        """Further configurations, chosen by what was seen: they help to name a change, and prove none.

        pattern: how noisy they are believed to be, (n_further,).
        """
        self.weigh()
        more = len(pattern)
        none = np.zeros((len(self.found.terms), more), dtype=bool)
        self.found = replace(self.found, covers=np.concatenate([self.found.covers, none], axis=1))
        self.pattern = np.concatenate([self.pattern, pattern])
        self.scale = np.concatenate([self.scale, np.full(more, np.nanmedian(self.scale))])
        self._least = np.concatenate([self._least, np.full((2, more), np.inf)], axis=1)
        self.log.extend(more)
        self.bettor.extend(more)

    @property
    def sampled(self) -> NDArray[np.bool_]:
        """Configurations of the sample, without those that were added, (n_configurations,)."""
        own: NDArray[np.bool_] = self.found.covers[0]  # everything's
        return own

    @property
    def pairs(self) -> int:
        """Pairs with this metric."""
        return int(self.log.counts.sum()) + len(self._pending)

    def add(self, configuration: int, log_ratio: float, base: float = math.nan) -> None:
        """Takes one pair, and what base took in it; nothing is decided before `weigh`."""
        if self.recorded is not None and self._known(configuration) >= self.recorded[1][configuration]:
            return
        if math.isfinite(log_ratio):
            self._pending.append((configuration, self.sign * log_ratio, base))

    def add_all(
        self, configurations: NDArray[np.int64], log_ratios: Floats, base: Floats | None = None
    ) -> None:
        """Takes pairs, (n_pairs,) each; those that are NaN are left out."""
        took = np.full(len(log_ratios), np.nan) if base is None else base
        for pair in zip(configurations.tolist(), log_ratios.tolist(), took.tolist(), strict=True):
            self.add(*pair)

    @property
    def costs(self) -> Costs | None:
        """What base and head took; None: not known of all that were measured.

        Nor where more is better: what a rate gains or loses by an amount of work is no amount of the rate.
        """
        base, head = self._least.copy()
        if self.sign < 0 or np.any(np.isinf(base) & (self.log.counts > 0)):
            return None
        return Costs(base, head)

    def _known(self, configuration: int) -> int:
        """Pairs of a configuration."""
        return int(self.log.counts[configuration]) + sum(c == configuration for c, *_ in self._pending)

    def weigh(self) -> None:
        """Bets on the pending pairs at the scales known before them, then learns from them."""
        if not self._pending:
            return
        configurations, pending, bases = zip(*self._pending, strict=True)
        rows, values = np.array(configurations, dtype=np.int64), np.array(pending)
        self._pending.clear()
        self._cost(rows, values, np.array(bases))
        if self.recorded is not None:  # a bet wants noise that the next pair has afresh
            self.log.add_all(rows, values)
            look = self.look_at_record(self.recorded[0])
            self.scale = np.full(len(self.scale), look.scale(self.found, self.look_alpha))
            return
        first = not self.log.counts.any()
        if not first:
            self.bettor.bet(rows, values, self.scale[rows], self.standing(STANDS)[rows])
        self.log.add_all(rows, values)
        self.scale = scales(self.log.values, self.log.counts, FLOOR * self.margin, self.pattern)
        if first:
            # Nothing is known before the first batch. Its common scale hardly depends on any pair's sign,
            # which is all that a bet is about.
            unit = self.pattern ** trust(self.log.values, self.log.counts, self.pattern)
            middle = float(np.median(self.scale / unit))
            if self.sizes is not None:
                self.bettor.expect(self.sizes, middle)
            self.bettor.bet(rows, values, (middle * unit)[rows])
        self.bettor.weigh()

    def look_at_record(self, known: Recorded) -> RecordedLook:
        """What a table's values amount to."""
        with np.errstate(invalid="ignore"):
            mean = np.nansum(self.log.values, axis=1) / self.log.counts
        floor = FLOOR * self.margin
        return RecordedLook(mean, self.log.counts, known, margin=self.margin, floor=floor)

    def _cost(self, rows: NDArray[np.int64], values: Floats, base: Floats) -> None:
        """Keeps the least that each side took; a pair whose base is not known tells nothing of it."""
        known = np.isfinite(base) & (base > 0.0)
        head = base[known] * np.exp(self.sign * values[known])
        np.minimum.at(self._least[0], rows[known], base[known])
        np.minimum.at(self._least[1], rows[known], head)

    def summary(self) -> tuple[Floats, Floats]:
        """Location and variance of each configuration, shapes (n_configurations,)."""
        return locations(self.log.values, self.log.counts, self.scale)

    def standing(self, errors: float) -> NDArray[np.bool_]:
        """Configurations so many standard errors beyond their margin, by harm and benefit, (n, 2).

        None of those that were added: they prove nothing.
        """
        location, variance = self.summary()
        beyond = np.stack([location, -location], axis=1) - SINGLE * self.margin
        needed = np.where(self.log.counts > 1, errors, max(errors, ALONE)) * np.sqrt(variance)
        return np.asarray(self.sampled[:, None] & (beyond > needed[:, None]), dtype=bool)

    def look(self, found: Candidates) -> None:
        """Looks at all pairs at once; each look at new pairs has a ninth of the error rate of the one before.

        found: who may be blamed. Which of all possible terms are among them may depend on the pairs, as long
        as their prior does not.
        """
        if self.pairs == self._looked:
            return
        if self._looked:
            self.look_alpha *= NEXT
        self._stand_out(found, self.look_alpha)
        self._looked = self.pairs

    def look_early(self, found: Candidates, turn: int) -> None:
        """Looks before the end, at the error rate of this turn (of `EARLY`), which is spent by that."""
        if self.recorded is not None:  # nothing is told before the end
            return
        alpha, self._early_alphas[turn] = self._early_alphas[turn], 0.0
        self._stand_out(found, alpha)

    def _stand_out(self, found: Candidates, alpha: float) -> None:
        if self.recorded is not None:
            look = self.look_at_record(self.recorded[0])
            scores, needed = look.scores(found), look.needed(alpha, found.prior)
        else:
            scores = standing_out(found, self.log.values, self.scale, self.margin)
            needed = needed_score(alpha, found.prior)
        self._stood_out |= (scores >= needed[:, None]).any(axis=0)

    def smallest_visible(self, covers: Floats, prior: Floats) -> Floats:
        """Smallest slow-down that these pairs show with 80 % power; covers: (n, n_configurations)."""
        if self.recorded is not None:
            look = self.look_at_record(self.recorded[0])
            needed = look.needed(self.look_alpha, prior)
            return look.smallest_visible(covers, scale=float(self.scale[0]), needed=needed)
        return smallest_visible(
            covers,
            self.scale,
            self.log.counts,
            margin=self.margin,
            evidence=self.log_bound - np.log(prior) + (self.sizes.cost if self.sizes else 0.0),
            score=needed_score(self.look_alpha, prior),
        )

    @property
    def alarms(self) -> NDArray[np.bool_]:
        """Whether harm and benefit are proven, shape (2,)."""
        return np.asarray((self.bettor.alarm >= self.log_bound) | self._stood_out, dtype=bool)
