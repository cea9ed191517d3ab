"""From what was mined to the file's entries: an entry that still describes its method stays as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bot.analysis.assertions.borders import placed
from bot.analysis.assertions.pace import evened
from bot.analysis.assertions.wording import asserted
from bot.flows.assertions.mining_state import Mined
from bot.model.assertions import Assertion, CallObservation, Floats, shares

MOST_OFF = 0.1
"""By which a group's shares may differ from those that an entry expects, until the entry is replaced."""
MOST_LOOSE = 0.02
"""Share of calls of which an entry may say nothing, until it is replaced."""


@dataclass(frozen=True)
class Proposal:
    """The entries as they should be: those that were there and hold, and new, changed and gone ones."""

    assertions: tuple[Assertion, ...]
    new: tuple[Assertion, ...] = ()
    changed: tuple[Assertion, ...] = ()
    gone: tuple[Assertion, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether there is anything to review."""
        return bool(self.new or self.changed or self.gone)


def proposal(known: Sequence[Assertion], mined: Mined, *, revision: str) -> Proposal:
    """What the file should be, given what it is and what was mined of a revision.

    Entries of methods that were not mined this time stay; those whose calls show nothing to assert any more
    are gone.
    """
    observations = {(m.name, m.file): seen for m, seen in mined.observations.items()}
    models = {(model.method, model.file): model for model in mined.models}
    kept: list[Assertion] = []
    changed: list[Assertion] = []
    gone: list[Assertion] = []
    for entry in known:
        key = entry.method, entry.file
        seen, model = observations.get(key), models.pop(key, None)
        if seen is None or model is None or describes(entry, seen):
            kept.append(entry)
        elif (fresh := asserted(model, mined=revision, trials=len(seen))) is not None:
            changed.append(fresh)
        else:
            gone.append(entry)
    fresh_ones = (
        asserted(model, mined=revision, trials=len(observations[key])) for key, model in models.items()
    )
    new = [entry for entry in fresh_ones if entry is not None]
    return Proposal((*kept, *changed, *new), tuple(new), tuple(changed), tuple(gone))


def describes(entry: Assertion, seen: Sequence[CallObservation]) -> bool:
    """Whether an entry holds for what was seen: each call is of one group, with shares as expected."""
    calls: dict[int | None, list[Floats]] = defaultdict(list)
    for observation in evened(seen):
        for path, durations in observation.durations.items():
            calls[entry.group_of(path)].append(durations)
    groups = {place: np.concatenate(found) for place, found in calls.items()}
    every = np.sort(np.concatenate([np.zeros(0), *groups.values()]))
    loose = groups.pop(None, np.zeros(0))
    cuts = placed(every, np.array(entry.places)).tolist() if len(every) else []
    return len(loose) <= MOST_LOOSE * len(every) and all(
        abs(expected - found) <= MOST_OFF
        for place, durations in groups.items()
        if place is not None
        for expected, found in zip(entry.groups[place].expected, shares(durations, cuts), strict=True)
    )
