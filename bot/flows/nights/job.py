"""What a night is given: what it measures, what it remembers, and the world as ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from bot.flows.history.accepting import Accepted
from bot.flows.nights.archive import Archive
from bot.flows.nights.asserting import Asserting
from bot.flows.nights.issues import Issues
from bot.flows.nights.past import Night
from bot.flows.nights.proposing import Proposals
from bot.flows.nights.search import NightSearch
from bot.flows.nights.teaching import Teaching
from bot.flows.ports import Progress, RevisionBench, Store
from bot.model.history import RunRecord
from bot.model.report import History, RevisionRef, Unit
from bot.model.revisions import Revision
from bot.model.subject import Subject


@dataclass(frozen=True)
class NightJob:
    """A night's work, and the world as ports.

    revisions: from the anchor to the tip. past: earlier nights, oldest first. store: where the night is
    written to, None: nowhere. run: the record of this night, still without its environment. metric: what a
    trial's value is: seconds, or with a `partner` the ratio to that revision, which ran beside it. history:
    what is told of what was read. issues: where confirmed slow-downs are announced, None: nowhere. teaching:
    what is learnt of options besides; None: nothing. asserting: what is learnt of call paths; None: nothing.
    proposals: where the change of assertions is proposed, None: nowhere. accepted: slow-downs that are no
    alarm; None: not asked. archive: what nights showed that are too old to be among `past`. alone: what
    values are without a partner.
    """

    subject: Subject
    name: str
    revisions: Sequence[Revision]
    metric: str
    budget: float
    search: NightSearch
    bench: RevisionBench
    past: Sequence[Night]
    store: Store | None
    run: RunRecord
    history: History
    progress: Progress
    notes: tuple[str, ...] = ()
    partner: int | None = None
    issues: Issues | None = None
    higher_is_better: bool = False
    teaching: Teaching | None = None
    asserting: Asserting | None = None
    proposals: Proposals | None = None
    accepted: Accepted | None = None
    archive: Archive = field(default_factory=Archive)
    alone: Unit = "seconds"

    @property
    def line(self) -> Sequence[Revision]:
        """All revisions that change points are told of."""
        return self.archive.line or self.revisions

    @property
    def unit(self) -> Unit:
        """What values are."""
        return self.alone if self.partner is None else "ratio"


def named(revision: Revision) -> RevisionRef:
    """A revision as reports and the history name it."""
    return RevisionRef(revision=revision.id, label=revision.label)
