"""What a night tells: its change points, what was learnt, what is still unclear, what tomorrow would do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from bot.analysis.change_points.steps import Step
from bot.flows.history.accepting import Accepted
from bot.flows.nights.archive import Archive, alike, believed, displaced, same
from bot.flows.nights.doubts import carriers
from bot.flows.nights.search import NightSearch
from bot.flows.nights.second_look import SecondLook, named_besides, still_unclear
from bot.flows.nights.sight import seen_enough
from bot.flows.ranges.telling import either, spoken, told_point
from bot.model.change_points import ChangePoint as Found
from bot.model.report import Acceptance, ChangePoint, Listed, Visible, VisibleOption
from bot.model.revisions import Revision
from bot.model.space import Space
from bot.report.formats import fraction
from bot.report.ranges.moves import Course

NO_LOOK = SecondLook()
MOST_PAIRS = 20
"""Pairs of levels that are named when they were not exercised."""
MOST_LEVELS = 3
"""Of a term that is named while others are as likely: a longer one merely lists whom the night measured."""


class Telling:
    """Sentences and parts of the report about one night's revisions, and what older nights had shown.

    Places are those of the night's revisions; what is older has places below 0. again: what a second look at
    all trials shows.
    """

    def __init__(
        self,
        search: NightSearch,
        revisions: Sequence[Revision],
        metric: str,
        *,
        higher_is_better: bool = False,
        accepted: Accepted | None = None,
        archive: Archive | None = None,
        again: SecondLook = NO_LOOK,
    ) -> None:
        self._search, self._metric = search, metric
        unclear = search.unclear_
        besides = named_besides(search.change_points_, unclear, again)
        self.unclear = still_unclear(unclear, besides)
        """What stands out and is not settled: such a night is not green."""
        self.gone: list[Found] = []
        """Changes for the worse that tonight's pairs do not find at the tip: no alarm, and not green."""
        self._higher, self._accepted = higher_is_better, accepted
        archive = archive or Archive()
        self._line = archive.line or revisions
        self._before = len(self._line) - len(revisions)
        self._measured = [place - self._before for place in archive.measured]
        older = [displaced(point, -self._before) for point in archive.points]
        recent = archive.recent - self._before
        self._shown = believed([*search.change_points_, *besides], older, recent=recent)
        known = believed(search.known_ or again.known, older, recent=recent)
        self._passed = [k for k in known if not any(same(k, p) for p in self._shown)]
        told = (*self._shown, *self._passed)
        self._older = [p for p in older if not any(alike(p, other) for other in told)]
        self._known = (*known, *older)

    def set_aside(self, gone: Iterable[Found]) -> None:
        """Of changes for the worse that are gone at the tip only that is told: who undid them is open."""
        self.gone = [point for point in gone if self.worse(point)]

    @property
    def points(self) -> list[Found]:
        """All change points, in order of revision."""
        all_points = sorted([*self._older, *self._shown], key=lambda point: point.revision)
        return [point for point in all_points if point not in self.gone]

    @property
    def fresh(self) -> list[Found]:
        """Change points that no earlier night had shown."""
        return [p for p in self._shown if p not in self.gone and not self._is_known(p)]

    @property
    def known(self) -> list[Found]:
        """Change points that earlier nights had shown already."""
        return [p for p in self.points if self._is_known(p)]

    def _is_known(self, point: Found) -> bool:
        return any(same(point, k) for k in self._known) or self._search.looked_at_.knows(point)

    def worse(self, found: Found) -> bool:
        """Whether a change point is for the worse."""
        return (found.ratio > 1) != self._higher

    def acceptance(self, found: Found) -> Acceptance | None:
        """That people accepted a change for the worse; None: they did not."""
        if self._accepted is None or not self.worse(found):
            return None
        return self._accepted.by_entry(found.term, self._metric, found.ratio)

    def kept(self, fates: Mapping[Found, Course]) -> dict[Found, bool]:
        """The points a reader is told of, and whether a later one took them back; fates: of all points.

        Of what only older nights showed: for the worse and still there, and what took back a part of it.
        """
        return {
            point: fate.end is not None
            for point, fate in fates.items()
            if point not in self._older or (fate.worse and fate.lasting) or fate.eases is not None
        }

    def lists(self, kept: Mapping[Found, bool]) -> tuple[Listed, ...]:
        """The three lists; those that are empty are left out."""
        learnt, unclear, tomorrow = self._learnt(kept), self._unclear(), self._tomorrow()
        found = [
            Listed(kind="learnt", items=tuple(learnt)),
            Listed(kind="unclear", items=tuple(unclear)),
            Listed(kind="tomorrow", items=tuple(tomorrow)),
        ]
        return tuple(one for one in found if one.items)

    def point(self, found: Found, measured: Sequence[int]) -> ChangePoint:
        """A change point with the ids, labels and subjects of its revisions, and the one before it."""
        accepted, before = self.acceptance(found), self._before
        usable = sorted({place + before for place in (*self._measured, *measured)})
        on_line = displaced(found, before)
        point = told_point(on_line, self._line, usable, metric=self._metric, accepted=accepted)
        places = (found.revision, *found.interval)
        return point.model_copy(update={"places": places if min(places) >= 0 else None})

    def visible(self, space: Space) -> Visible:
        """Per option the smallest slow-down that tonight would have shown, and what was not exercised."""
        least = self._search.slow_downs()
        options = []
        for option in space.options:
            seen = [least[(str(level),)] for level in option.levels if (str(level),) in least]
            if seen:
                options.append(VisibleOption(option=option.name, slow_down=_finite(max(seen))))
        missing = [term for term, value in least.items() if value == float("inf")]
        pairs = [(t[0], t[1]) for t in missing if len(t) == 2]
        return Visible(
            options=tuple(options),
            everything=_finite(least[()]),
            levels_not_exercised=tuple(t[0] for t in missing if len(t) == 1),
            pairs_not_exercised=tuple(pairs[:MOST_PAIRS]),
            pairs_not_exercised_count=len(pairs),
        )

    def _learnt(self, kept: Mapping[Found, bool]) -> list[str]:
        said = [f"{self._changed(p)} since {self._where(p.interval)}." for p in self.fresh]
        said += [
            f"Known from earlier nights' trials{self._decided(p, undone=kept[p])}: {self._changed(p)}"
            f" since {self._where(p.interval)}."
            for p in self.known
            if p in kept
        ]
        said += [
            f"No longer believed: {self._changed(k)} since {self._where(k.interval)}." for k in self._passed
        ]
        if not self.fresh and self._search.enough_ and not self.unclear:
            said.append(
                f"Nothing new moved: {100 * self._search.aim:.0f} % would have been seen in most options and"
                f" pairs of options since {self._name(self._earlier())}."
            )
        return said

    def _unclear(self) -> list[str]:
        old = [
            f"{self._doubt(step)[:-1]}: two nights did not settle it, and no later one asks."
            for step in still_unclear(self._search.rested_, self._shown)
        ]
        passed = [
            f"{self._changed(p)} since {self._where(p.interval)}, and seems to be gone: at the tip its"
            " configurations take what they took before it."
            for p in self.gone
        ]
        return [*(self._doubt(step) for step in self.unclear), *passed, *old]

    def _doubt(self, step: Step) -> str:
        way = "slower" if (step.size > 0) != self._higher else "faster"
        return f"{self._carriers(step)} may be {way} since {self._where((step.low, step.high))}."

    def _carriers(self, step: Step) -> str:
        terms, more = carriers(self._search.model_, step, self._search.window.revisions)
        if more and len(terms[0]) > MOST_LEVELS:
            return "some configurations"
        return either(terms, *["something else"] * more)

    def _tomorrow(self) -> list[str]:
        said = [
            f"Ask again whether {self._carriers(s)} moved at {self._where((s.low, s.high))}."
            for s in self.unclear
        ]
        said.append(
            f"Compare the new tip with {self._name(self._earlier())} in configurations that were not tried"
            " yet: what tonight overlooked is looked at once more."
        )
        if not self._looked_closely():
            said.append(
                f"Look more closely: tonight ended before {100 * self._search.aim:.0f} % would have been seen"
                " in most options and pairs of options."
            )
        return said

    def _looked_closely(self) -> bool:
        """Whether the trials would have shown what is aimed at, though a cut night did not ask."""
        search = self._search
        cut = bool(self.unclear) and seen_enough(search.model_, search.window, search.aim)
        return search.enough_ or cut

    def _earlier(self) -> int:
        """What the tip is compared with: where that does not work, what stood in for it tonight."""
        compared, previous = self._search.compared_, self._search.window.previous
        return max(previous, min(compared)) if len(compared) > 1 else previous

    def _decided(self, point: Found, *, undone: bool) -> str:
        if undone:
            return " and undone since"
        found = self.acceptance(point)
        decided = f" and accepted until {found.until}" if found else " and not accepted"
        return decided if self.worse(point) else ""

    def _changed(self, point: Found) -> str:
        way = "slower" if self.worse(point) else "faster"
        return f"{spoken(point.term)} became {fraction(abs(point.ratio - 1))} {way}"

    def _where(self, interval: tuple[int, int]) -> str:
        first, last = interval
        if first == last:
            return self._name(first)
        return f"one of {self._name(first)} to {self._name(last)}"

    def _name(self, revision: int) -> str:
        return f"`{self._line[revision + self._before].label}`"


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None
