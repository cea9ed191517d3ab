"""From what was mined to the file's entries: an entry that still describes its method stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.analysis.assertions.checking import check
from bot.analysis.assertions.wording import asserted
from bot.flows.mining_state import Mined
from bot.model.assertions import Assertion, CallObservation

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
    checked = check(entry, seen, seen, false_alarms=0.01)
    if not checked.groups:
        return False
    loose = sum(len(d) for o in seen for path, d in o.durations.items() if entry.group_of(path) is None)
    return loose <= MOST_LOOSE * sum(len(o.every) for o in seen) and all(
        abs(expected - found) <= MOST_OFF
        for group in checked.groups
        if group.calls[0]
        for expected, found in zip(group.expected, group.base, strict=True)
    )
