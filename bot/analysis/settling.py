"""What keeps a run without an alarm from `none`, and about how much more measuring would settle it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bot.analysis.look import needed_score, standing_out
from bot.analysis.pairs import Floats
from bot.analysis.reading import Reading

NONE_BOUND, NONE_MARGINS = 0.03, 3.0
"""Verdict none: every level's upper bound lies below the larger of 3 % and three margins (contract)."""
LEAST = 1.1
"""The smallest factor that is told: what seems to lack nothing lacks a little. Arbitrary."""

HOPELESS = 20.0
"""Times a run's measuring that nobody will wait for: what helps is less noise. Arbitrary."""

MOST_VALUES = 20
"""Values of a table's cell that are told: of noise that few values show, more is no estimate. Arbitrary."""


def doubts(readings: Sequence[Reading]) -> list[str]:
    """A sentence for each metric of which nothing is settled; empty: there is none."""
    return [told for reading in readings if reading.fit is not None and (told := _doubt(reading))]


def none_bound(margin: float) -> float:
    """Log ratio below which the upper bound of every level must lie."""
    return max(math.log1p(NONE_BOUND), NONE_MARGINS * margin)


def _doubt(reading: Reading) -> str:
    limit = none_bound(reading.watch.margin)
    mean, reach = reading.level_means()
    bound = mean + reach
    open_ = [i for i in np.argsort(-bound) if np.isfinite(bound[i]) and bound[i] >= limit]
    if not open_:
        return ""
    worst = open_[0]
    term = "+".join(reading.level_terms[worst]) or "everything"
    # Each level's mean is taken for chance: those that lean to one side so far will not stay there.
    factor = float(reach[open_].max() / limit) ** 2
    return (
        f"{reading.metric}: {len(open_)} of {len(mean)} levels could still be "
        f"{100 * math.expm1(limit):.0f} % worse (most of all {term}: "
        f"up to {100 * math.expm1(bound[worst]):.1f} %); "
        f"{_remedy(reading, factor)}."
    )


def _remedy(reading: Reading, quiet: float) -> str:
    """What would settle it; quiet: of this run's pairs, until bounds are low enough if nothing changed."""
    if reading.watch.recorded is not None:  # it has no more pairs
        each = float(np.median(reading.watch.log.counts))
        values = max(math.ceil(quiet * each), math.floor(each) + 1)
        told = f"about {values}" if values <= MOST_VALUES else "many more"
        return (
            f"{told} values of each configuration and revision in the table (repeated rows) would settle it"
        )
    quiet, real = max(quiet, LEAST), max(until_alarm(reading), LEAST)
    first = min(quiet, real)
    told = (
        f"about {_more(reading, first):,} more pairs would settle it "
        f"({first:.1f} times this run's measuring in all)"
    )
    if quiet <= real:
        return told
    # Something always stands out most: that it alarms soon is no promise where nothing changed.
    if quiet <= HOPELESS:
        return (
            f"{told} if what stands out most is real, and about {_more(reading, quiet):,} if nothing changed"
        )
    return (
        f"{told} if what stands out most is real; if nothing changed, runs differed too much to say so "
        f"({quiet:,.0f} times the measuring)"
    )


def _more(reading: Reading, factor: float) -> int:
    """Pairs beyond those of the run that make `factor` times as many."""
    return math.ceil((factor - 1.0) * reading.watch.pairs)


def until_alarm(reading: Reading) -> float:
    """The run's measuring, times this, would alarm if all goes on as it went; infinite: nothing stands out.

    Won bets grow with the pairs, scores of a look with their root, and either may alarm; told is the later,
    because what leads early leads by chance, too.
    """
    watch, found = reading.watch, reading.found
    stakes = watch.bettor.stakes
    start = watch.log_bound - np.log(watch.found.prior) + stakes
    won = watch.bettor.log_evidence[:, :2] + stakes
    by_bets = _fold(start, won)
    scores = standing_out(found, watch.log.values, watch.scale, watch.margin)
    by_look = _fold(needed_score(watch.look_alpha, found.prior), scores) ** 2
    return float(np.maximum(by_bets, by_look).min())


def _fold(needed: Floats, reached: Floats) -> Floats:
    """How many times the leader of harm and of benefit has to grow, (2,); infinite where none grows."""
    folds = np.where(reached > 0.0, needed[:, None] / np.maximum(reached, 1e-9), np.inf)
    return np.asarray(folds.min(axis=0))
