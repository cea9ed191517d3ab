"""What a night learns by the published pipeline: its sample five times each, its filter, fine profiles."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from bot.analysis.hindsight import configurations
from bot.analysis.influences.watched import watched_trials
from bot.flows.influences.known_costs import Known
from bot.flows.influences.profiles import Wanted
from bot.flows.nights.teaching import Teaching
from bot.model.history import OUTCOMES, Columnar
from bot.model.profile_history import NO_METHOD, ProfileTable
from bot.model.space import Configuration, Space

if TYPE_CHECKING:
    from bot.flows.influences.learning import Effort

Rows = TypeVar("Rows", bound=Columnar)
REPETITIONS = 5
"""Coarse profiles of each configuration: the paper's."""
PLANNING = (
    "No published algorithm plans a night's search for changes: with `--estimator published` methods and"
    " influences are the published pipeline's, the search is ours."
)


def remaining(
    design: Sequence[Configuration], space: Space, past: ProfileTable, tip: str
) -> Iterator[Wanted]:
    """What the sample lacks of its profiles at the tip, in its own order, without what failed there."""
    known = _tried(space, past, tip)
    for configuration in design:
        well, failed = known.get(configuration, (0, 0))
        if well < REPETITIONS and not failed:
            yield Wanted(configuration, times=REPETITIONS - well)


@dataclass(frozen=True)
class PublishedTeaching(Teaching):
    """design: the sample of Weber, Apel and Siegmund (ICSE 2021, section IV-A), always in the same order.

    tip: id of the revision that all this is of. Learnt from are profiles of this sample at the tip alone,
    which nobody drew at random: there is no probe, and models are cross-validated. Hard methods are watched
    once the whole sample is profiled.
    """

    design: Sequence[Configuration] = ()
    tip: str = ""
    relearns: ClassVar[bool] = True

    @property
    def effort(self) -> Effort:
        """The published learner."""
        from bot.flows.influences.learning import Effort

        return Effort(published=True)

    def known_of(self, known: Known, space: Space) -> tuple[Known, tuple[str, ...]]:
        """Profiles of the sample and single calls at the tip; how much of the sample is there."""
        if self.profiler is None:
            return known, (PLANNING,)
        rows = _at(self.tip, known.profiles)
        rows = rows.where(_within(space, rows, set(self.design)))
        rows = replace(rows, drawn=np.zeros(len(rows), bool))
        known = replace(known, profiles=rows, durations=_at(self.tip, known.durations))
        return known, (self._progress(space, rows), PLANNING)

    def watchable(
        self, tonight: ProfileTable, known: Known, hard: Sequence[str], space: Space
    ) -> ProfileTable:
        """Those of the whole sample, without configurations in which hard methods were watched before."""
        del tonight
        if any(remaining(self.design, space, known.profiles, self.tip)):
            return ProfileTable.empty()
        trials = watched_trials(space, known.durations)
        seen = {trial.configuration for trial in trials if trial.known & set(hard)}
        return known.profiles.where(_within(space, known.profiles, set(self.design) - seen))

    def _progress(self, space: Space, rows: ProfileTable) -> str:
        known = _tried(space, rows, self.tip).values()
        done = sum(well >= REPETITIONS for well, _ in known)
        failing = sum(failed > 0 and well < REPETITIONS for well, failed in known)
        said = f"Published sample: {done} of {len(self.design)} configurations profiled {REPETITIONS} times"
        said += f", {failing} failed under the profiler" if failing else ""
        return f"{said}{'; the next nights at this tip go on' if done + failing < len(self.design) else ''}."


def _tried(space: Space, table: ProfileTable, tip: str) -> Mapping[Configuration, tuple[int, int]]:
    """Of each configuration at the tip, how many profiles show methods, and how many show none."""
    rows = _at(tip, table)
    found, codes = configurations(rows, space)
    _, first = np.unique(rows.run.astype(np.int64) << 32 | rows.profile, return_index=True)
    good = (rows.outcome == OUTCOMES.index("ok")) & (rows.method != NO_METHOD)
    tried: dict[Configuration, tuple[int, int]] = {}
    for row in first:
        if (code := codes[rows.configuration[row]]) >= 0:
            well, failed = tried.get(found[code], (0, 0))
            tried[found[code]] = (well + int(good[row]), failed + int(not good[row]))
    return tried


def _at(tip: str, table: Rows) -> Rows:
    """The rows of one revision."""
    mine = np.array([revision.revision == tip for revision in table.revisions] + [False])
    return table.where(mine[table.revision])


def _within(space: Space, table: ProfileTable, wanted: Collection[Configuration]) -> NDArray[np.bool_]:
    """Which rows are of these configurations, shape (n,)."""
    found, codes = configurations(table, space)
    kept = np.array([configuration in wanted for configuration in found] + [False])
    return np.asarray(kept[codes[table.configuration]])
