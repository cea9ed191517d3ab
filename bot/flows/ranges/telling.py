"""A change point as a report tells it: with the ids, labels and subjects of its revisions."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.change_points import ChangePoint as Found
from bot.model.report import Acceptance, ChangePoint, RevisionRef
from bot.model.revisions import Revision


def told_point(
    found: Found,
    revisions: Sequence[Revision],
    usable: Sequence[int],
    *,
    metric: str,
    accepted: Acceptance | None = None,
) -> ChangePoint:
    """The same, and the usable revision before its interval; usable: places in `revisions`, in order."""
    first, last = (revisions[i] for i in found.interval)
    revision = revisions[found.revision]
    before = next((revisions[i] for i in reversed(usable) if i < found.interval[0]), None)
    return ChangePoint(
        revision=revision.id,
        label=revision.label,
        subject=revision.subject,
        interval=(first.id, last.id),
        interval_labels=(first.label, last.label),
        before=before and RevisionRef(revision=before.id, label=before.label),
        places=(found.revision, *found.interval),
        term=found.term,
        aliases=found.aliases,
        metric=metric,
        ratio=found.ratio,
        ratio_interval=found.ratio_interval,
        probability=found.probability,
        shape=found.shape,
        accepted=accepted,
        spared=found.spared,
    )
