"""Change points as a report tells them, with ids, labels and subjects of revisions; and what has no name."""

from __future__ import annotations

from collections.abc import Sequence

from bot.model.change_points import ChangePoint as Found
from bot.model.change_points import ChangePointSearch, Doubt, Doubting
from bot.model.report import Acceptance, ChangePoint, Listed, RevisionRef
from bot.model.revisions import Revision
from bot.model.space import Term


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


def told_doubts(
    search: ChangePointSearch, revisions: Sequence[Revision], *, higher_is_better: bool
) -> tuple[Listed, ...]:
    """Where something surely moved that has no sure name, if a search knows of such places."""
    doubts = search.doubts_ if isinstance(search, Doubting) else ()
    items = tuple(_doubted(doubt, revisions, higher_is_better=higher_is_better) for doubt in doubts)
    return (Listed(kind="unclear", items=items),) if items else ()


def _doubted(doubt: Doubt, revisions: Sequence[Revision], *, higher_is_better: bool) -> str:
    first, last = (f"`{revisions[i].label}`" for i in doubt.interval)
    where = first if first == last else f"One of {first} to {last}"
    way = "slower" if (doubt.ratio > 1) != higher_is_better else "faster"
    beside = " beside what is told of it" * doubt.beside
    likely = either(doubt.terms)
    name = f"not sure: {likely}{', most likely' * (len(doubt.terms) == 1)}" if likely else "not clear"
    return (
        f"{where} made some configurations up to {100 * abs(doubt.ratio - 1):.2g} % {way}{beside};"
        f" which options it takes is {name}."
    )


def either(terms: Sequence[Term], *more: str) -> str:
    """Terms and more as alternatives, with commas where "a with b or c with d" could be read as one."""
    several = len(terms) + len(more) > 1 and any(len(term) > 1 for term in terms)
    return (", or " if several else " or ").join([*map(spoken, terms), *more])


def spoken_level(level: str) -> str:
    """A level in a sentence: `a`, or `a` off."""
    return f"`{level.removeprefix('!')}`{' off' * level.startswith('!')}"


def spoken(term: Term) -> str:
    """A term in a sentence: `a` with `b`, `c` off and `d`."""
    shown = [spoken_level(level) for level in term]
    first, *others = shown or ["everything"]
    *some, last = others or [""]
    return f"{first} with {', '.join(some)}{' and ' * bool(some)}{last}" if others else first
