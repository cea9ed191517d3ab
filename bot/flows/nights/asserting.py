"""What a night learns of assertions: it mines the tip, and says what their file should be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import partial
from itertools import chain

from bot.flows.assertions.asserting import proposal
from bot.flows.assertions.mining import Mining
from bot.flows.assertions.mining_state import Mined
from bot.flows.ports import ProfileBench
from bot.model.assertions import Assertion, PathModel
from bot.model.duration_history import DurationRecorder
from bot.model.errors import UsageError
from bot.model.report import RevisionRef
from bot.model.report_assertions import ProposedAssertions, ProposedEntry
from bot.model.space import Configuration, Space
from bot.report.assertion_text import entry_table

MINING_SHARE = 0.25
"""Of the time for profiles, for mining; and what learning left over."""
SHORT = 12
"""Digits of a revision in an entry."""
NOTES = 3
"""Of mining; its last ones say how far it came."""


@dataclass(frozen=True)
class AssertionFile:
    """The file of assertions at the tip. text: empty: there is none. read, write: of its entries."""

    path: str
    text: str
    read: Callable[[str], Sequence[Assertion]]
    write: Callable[[Sequence[Assertion]], str]


@dataclass(frozen=True)
class Asserted:
    """What the file should be. certain: something was mined, so that without entries nothing is to change."""

    proposed: ProposedAssertions = field(default_factory=ProposedAssertions)
    certain: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asserting:
    """Mines one configuration. seconds: wall time for it. overhead: see `Mining`.

    ends: until when on the night's clock, however late it begins.
    """

    profiler: ProfileBench
    configuration: Configuration
    file: AssertionFile
    seconds: float
    overhead: float = 0.1
    ends: float = math.inf

    def mine(
        self,
        tip: RevisionRef,
        space: Space,
        recorder: DurationRecorder,
        *,
        clock: Callable[[], float],
        until: float,
        earlier: str = "",
        tell: Callable[[str], None] = lambda text: None,  # noqa: ARG005
    ) -> Asserted:
        """What the file should be; each watched trial goes into the recorder.

        First hot methods are mined; in what time is left, asserted ones that are not hot. earlier: the file
        as the last night proposed it, if it was not changed since: what holds of it stays as it is, so that
        nights that find the same say the same.

        Raises:
            UsageError: the file is wrong.
        """
        known = before = self.file.read(self.file.text)
        with suppress(UsageError):  # of another version: as if it had not been proposed
            known = self.file.read(earlier or self.file.text)
        wanted, models, notes = known, dict[tuple[str, str | None], PathModel](), list[str]()
        options = space.as_dict(self.configuration)
        mining = partial(
            Mining,
            self.profiler,
            self.configuration,
            clock,
            until,
            overhead=self.overhead,
            tell=tell,
            keep=lambda profile: recorder.add(profile, tip, options),
        )
        for mined in _mined(known, mining):
            wanted = proposal(wanted, mined, revision=tip.revision[:SHORT]).assertions
            models |= {(m.method, m.file): m for m in mined.models}
            notes += mined.notes
        proposed = self._proposed(before, wanted, models)
        count = "1 method was" if len(models) == 1 else f"{len(models) or 'No'} methods were"
        told = f"{count} mined at the tip; {_changes(proposed)}."
        return Asserted(proposed, bool(models), (*list(dict.fromkeys(notes))[-NOTES:], told))

    def _proposed(
        self,
        before: Sequence[Assertion],
        wanted: Sequence[Assertion],
        models: Mapping[tuple[str, str | None], PathModel],
    ) -> ProposedAssertions:
        """The difference to the file at the tip."""
        old, new = ({entry.id: entry for entry in entries} for entries in (before, wanted))
        entries = []
        for identity, entry in sorted((old | new).items(), key=lambda pair: _place(pair[1])):
            if old.get(identity) == new.get(identity):
                continue
            change = "new" if identity not in old else "changed" if identity in new else "gone"
            model = models.get((entry.method, entry.file))
            table = entry_table(entry, model.borders if model is not None else ())
            entries.append(ProposedEntry(id=identity, method=entry.method, change=change, table=table))
        if not entries:
            return ProposedAssertions()
        text = self.file.write(wanted)
        return ProposedAssertions(
            path=self.file.path,
            entries=tuple(entries),
            text=text,
            difference=_difference(self.file.path, self.file.text, text),
        )


def _mined(known: Sequence[Assertion], mining: Callable[..., Mining]) -> Iterator[Mined]:
    """What there is of hot methods; then, if there is time, of asserted ones that were not among them."""
    mined = mining().run()
    yield mined
    met = {(m.name, m.file) for m in chain(mined.observations, *mined.refused.values())}
    left = [entry.method for entry in known if (entry.method, entry.file) not in met]
    if mined.finished and left:
        yield mining(hints=left).run()


def _place(entry: Assertion) -> tuple[str, str]:
    """Where an entry stands in the file."""
    return entry.file or "", entry.method


def _difference(path: str, before: str, after: str) -> str:
    names = (f"a/{path}" if before else "/dev/null"), f"b/{path}"
    return "".join(unified_diff(before.splitlines(True), after.splitlines(True), *names))


def _changes(proposed: ProposedAssertions) -> str:
    kinds = [entry.change for entry in proposed.entries]
    counted = [f"{kinds.count(kind)} {kind}" for kind in ("new", "changed", "gone") if kind in kinds]
    return f"assertions: {', '.join(counted)}" if counted else "their assertions stay as they are"
