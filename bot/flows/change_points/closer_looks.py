"""Where a search of a long range cannot explain what moved: that stretch is searched as a short range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Self, TypeVar

import numpy as np

from bot.analysis.change_points.noise import Floats, Ints
from bot.analysis.change_points.probable_failures import ProbableFailures, holding
from bot.analysis.change_points.unexplained import Unexplained, unexplained
from bot.analysis.change_points.visible import by_configuration
from bot.model.change_points import ChangePoint, ChangePointSearch, Doubt, Doubting, Observation, Probe
from bot.model.space import Configuration, Space

INSIDE, MARGINS = 8, (1, 2, 4, 8)
"""Revisions of a stretch that are looked at, evenly spaced, and how far outside of it others are: levels and
noise are learned there."""
MOST_PLACES = INSIDE + 2 * len(MARGINS)
MOST, TRIALS = 24, 240
"""Looks at most, and trials of each: where configurations move as no sum says there is always one more."""
AGAIN = 2
"""Trials at a revision by which a configuration's halving goes."""
FEW, SPREAD = 8, 13
"""When all that moved is explained, so many configurations are tried at so many revisions."""
QUICK, LEAST = 0.1, 0.1
"""Share of the configurations that are quicker than a quick one, and what it takes at least, as a share."""
SURE = 0.9
"""Probability of a change point from which on it needs no closer look."""
SHOWN = 0.25
"""Share of the configurations that hold a term which must have moved rather as is told of it than not."""
DEAD = 3
"""Trials of a revision that all failed, from which on it is left out."""

NOTHING: tuple[Ints, Floats] = np.zeros(0, dtype=np.intp), np.zeros(0)
"""The trials of a configuration that has none."""

_Found = TypeVar("_Found", ChangePoint, Doubt)


@dataclass(frozen=True)
class Look:
    """What a search of some revisions found.

    first, last: where something moved. places: all that were looked at.
    """

    first: int
    last: int
    places: tuple[int, ...]
    points: tuple[ChangePoint, ...]
    doubts: tuple[Doubt, ...]

    def covers(self, interval: tuple[int, int]) -> bool:
        """Whether what is said of an interval is this look's: its own, or it saw the revision before, too."""
        first, last = interval
        beside = first == last and {first - 1, first} <= set(self.places)
        return beside or (first <= self.last and self.first <= last)


@dataclass
class CloserLooks:
    """A search of a long range that short ones follow; satisfies `ChangePointSearch` and `Doubting`.

    The long one adds up steps that are alike in all configurations, and refutes one that is not. Its trials
    still show where something moved: there the model of short ranges, in which each configuration has a
    move of its own, names it. What that says of its revisions replaces what was said of them before.

    Args:
        space: options.
        wide: the search of the whole range.
        short: makes a search of so many revisions for changes of such a share.
        revisions: length of the range.
        threshold: changes that are smaller in all configurations, as a share, are not looked for.
    """

    space: Space
    wide: ChangePointSearch
    short: Callable[[int, float], ChangePointSearch]
    revisions: int
    threshold: float
    _looks: list[Look] = field(default_factory=list)
    _observations: list[Observation] = field(default_factory=list)
    _fresh: Sequence[Observation] = ()
    _concluded: Sequence[ChangePoint] | None = None
    """What the long search ended with."""
    _script: Iterator[Sequence[Probe]] | None = None
    _wished: Sequence[Probe] = ()

    @property
    def change_points_(self) -> Sequence[ChangePoint]:
        """What the trials so far show, in order of revision."""
        wide = self.wide.change_points_ if self._concluded is None else self._concluded
        return _replaced(wide, [(look, look.points) for look in self._looks])

    @property
    def doubts_(self) -> Sequence[Doubt]:
        """Where something surely moved that has no sure name, in order of revision."""
        return _replaced((), [(look, look.doubts) for look in self._looks])

    def wishes(self) -> Sequence[Probe]:
        """The next trials; empty: nothing is left to learn."""
        if self._script is None:
            self._script = self._run()
            self._wished = next(self._script, ())
        return self._wished

    def partial_fit(self, observations: Sequence[Observation]) -> Self:
        """Takes in any trials."""
        self._observations += observations
        self._fresh = observations
        if self._script is None:
            self.wide.partial_fit(observations)
        else:
            self._wished = next(self._script, ())
        return self

    def _run(self) -> Iterator[Sequence[Probe]]:
        while wished := self.wide.wishes():
            yield wished
            self.wide.partial_fit(self._fresh)
        self._concluded = self.wide.change_points_
        left = self._unexplained()
        while left is not None and len(self._looks) < MOST:
            first, last = yield from self._narrowed(left)
            self._looks.append((yield from self._look(first, last)))
            left = self._unexplained()
            if left is None and (wished := self._elsewhere()):
                yield wished
                left = self._unexplained()

    def _unexplained(self) -> Unexplained | None:
        return unexplained(self.space, self._observations, self._explained(), least=self.threshold)

    def _elsewhere(self) -> list[Probe]:
        """Trials all over the range of those that were measured at the fewest revisions, as many at each."""
        seen = {c: set(at.tolist()) for c, (at, _) in by_configuration(self._observations).items()}
        usable = self._usable()
        some = [usable[round(x)] for x in np.linspace(0, len(usable) - 1, SPREAD)]
        failures = ProbableFailures.by(self.space, self._observations)
        held = {c: holding(self.space, self.space.levels, c) for c in seen}
        left = {c: [r for r in some if r not in seen[c] and not failures.expects(held[c], r)] for c in seen}
        few = sorted((c for c in seen if left[c]), key=lambda c: len(seen[c]))[:FEW]
        return [Probe(c, r) for c in few for r in left[c]]

    def _explained(self) -> list[ChangePoint]:
        """What needs no closer look: what is sure, and where there was one."""
        sure = [p for p in self.change_points_ if p.probability >= SURE]
        looked = [(look.first, look.last) for look in self._looks]
        marks = [ChangePoint(first, (first, last), (), (), 1.0, (1.0, 1.0), 1.0) for first, last in looked]
        return [*sure, *marks]

    def _narrowed(self, left: Unexplained) -> Generator[Sequence[Probe], None, tuple[int, int]]:
        """Where the clearest configurations moved, each by itself; the stretch in which most of them did."""
        spans: list[tuple[int, int]] = []
        for configuration in left.clearest:
            span = yield from self._halved(configuration, left.first - 1, left.last)
            spans.append(span)
        return max(spans, key=lambda s: (sum(a <= s[1] and s[0] <= b for a, b in spans), s[0] - s[1]))

    def _halved(
        self, configuration: Configuration, before: int, after: int
    ) -> Generator[Sequence[Probe], None, tuple[int, int]]:
        """First and last revision at which a configuration may have moved, halved as far as trials work."""
        ends = before, after
        if unknown := [Probe(configuration, r) for r in ends if np.isnan(self._level(configuration, r))]:
            yield unknown * AGAIN
        levels = [self._level(configuration, r) for r in ends]
        left = [r for r in self._usable() if before < r < after and not np.isnan(sum(levels))]
        while left:
            middle = left[len(left) // 2]
            yield [Probe(configuration, middle)] * AGAIN
            level = self._level(configuration, middle)
            if np.isnan(level):
                left.remove(middle)
            elif abs(level - levels[0]) < abs(level - levels[1]):
                before, left = middle, [r for r in left if r > middle]
            else:
                after, left = middle, [r for r in left if r < middle]
        return before + 1, after

    def _level(self, configuration: Configuration, revision: int) -> float:
        """The median of a configuration's log values at a revision; NaN: none is known."""
        mine = [o for o in self._observations if o.probe.configuration == configuration]
        known = _first(by_configuration(mine).get(configuration, NOTHING), [revision])
        return np.nan if known is None else known[1]

    def _look(self, first: int, last: int) -> Generator[Sequence[Probe], None, Look]:
        """Searches a stretch and what lies around it as a short range."""
        places = self._places(first, last)
        search = self.short(len(places), self.threshold * self._quickest())
        search.partial_fit(_at(self._observations, places))
        most = len(self._observations) + TRIALS
        while len(self._observations) < most and (wished := search.wishes()):
            yield [replace(probe, revision=places[probe.revision]) for probe in wished]
            search.partial_fit(_at(self._fresh, places))
        large = [_placed(p, places) for p in search.change_points_ if self._matters(*p.ratio_interval)]
        points = self._shown(large, places)
        doubtful = search.doubts_ if isinstance(search, Doubting) else ()
        doubts = [_placed(d, places) for d in doubtful if self._matters(d.ratio)]
        return Look(first, last, tuple(places), tuple(points), tuple(doubts))

    def _quickest(self) -> float:
        """What a quick configuration takes, as a share of the middle one.

        What takes the same seconds everywhere is a small share of the middle one and a large one of it.
        """
        levels = [float(np.median(np.exp(y))) for _, y in by_configuration(self._observations).values()]
        return max(float(np.quantile(levels, QUICK)) / float(np.median(levels)), LEAST)

    def _shown(self, points: Sequence[ChangePoint], places: Sequence[int]) -> list[ChangePoint]:
        """Those that configurations did; of several, those of more levels are doubted first.

        What made up for another is not told, and so neither is that: each is asked of those that are left.
        """
        kept = sorted(points, key=lambda p: len(p.term), reverse=True)
        while wrong := next((p for p in kept if not self._shows(p, kept, places)), None):
            kept.remove(wrong)
        return [p for p in points if p in kept]

    def _shows(self, point: ChangePoint, told: Sequence[ChangePoint], places: Sequence[int]) -> bool:
        """Whether some that hold a point's term moved as it says, and rather as is told with it than without.

        What only takes back a part of a wider change would be told to be slower where nothing is, and what
        is told beside one as a share of the few seconds that are left, to be far faster than anything is.
        """
        before = [r for r in places if r < point.interval[0]][::-1]
        after = [r for r in places if r >= point.revision]
        share, agree = np.log(point.ratio), []
        for c, trials in by_configuration(self._observations).items():
            old, new = _first(trials, before), _first(trials, after)
            if old is None or new is None or not point.moves(c, self.space):
                continue
            others = [p for p in told if p is not point and old[0] < p.revision <= new[0]]
            moved = new[1] - old[1]
            alone = moved - sum(np.log(p.ratio) for p in others if p.moves(c, self.space))
            agree.append(share * moved > 0.0 and abs(alone - share) < abs(alone))
        return not agree or float(np.mean(agree)) >= SHOWN

    def _matters(self, *ratios: float) -> bool:
        """Whether one of some ratios is as large a change as is asked for."""
        return max(abs(ratio - 1.0) for ratio in ratios) >= self.threshold

    def _places(self, first: int, last: int) -> list[int]:
        """Revisions to look at: some in the stretch, and some on either side."""
        usable = self._usable()
        inside = [r for r in usable if first <= r < last]
        before, after = [r for r in usable if r < first], [r for r in usable if r >= last]
        chosen = {inside[round(x)] for x in np.linspace(0, len(inside) - 1, INSIDE)} if inside else set()
        chosen |= {before[-m] for m in MARGINS if m <= len(before)}
        chosen |= {after[m - 1] for m in MARGINS if m <= len(after)}
        return sorted(chosen)

    def _usable(self) -> list[int]:
        """Revisions but those that were not built, or at which several trials failed and none worked."""
        worked = {o.probe.revision for o in self._observations if np.isfinite(o.value)}
        failed = [o for o in self._observations if o.probe.revision not in worked]
        dead = Counter(r for o in failed for r in [o.probe.revision] * (1 if o.built else DEAD))
        return [r for r in range(self.revisions) if dead[r] < DEAD]


def _first(trials: tuple[Ints, Floats], places: Sequence[int]) -> tuple[int, float] | None:
    """The first of some places where there are trials, and the median of their log values; None: nowhere."""
    at, logs = trials
    known = next((r for r in places if r in at), None)
    return None if known is None else (known, float(np.median(logs[at == known])))


def _at(observations: Sequence[Observation], places: Sequence[int]) -> list[Observation]:
    """Those of some revisions, which are numbered."""
    number = {revision: i for i, revision in enumerate(places)}
    return [
        replace(o, probe=replace(o.probe, revision=number[o.probe.revision]))
        for o in observations
        if o.probe.revision in number
    ]


def _placed(found: _Found, places: Sequence[int]) -> _Found:
    """What was found among numbered revisions, in the whole range: it may be between two of them."""
    first, last = found.interval
    interval = places[max(first - 1, 0)] + 1, places[last]
    return replace(found, revision=places[found.revision], interval=interval)


def _replaced(known: Sequence[_Found], looked: Sequence[tuple[Look, Sequence[_Found]]]) -> list[_Found]:
    """What is known of all revisions, in their order; of those of a look, what the last one found."""
    left = list(known)
    for look, found in looked:
        left = [f for f in left if not look.covers(f.interval)]
        left += [f for f in found if look.covers(f.interval)]
    return sorted(left, key=lambda f: f.revision)
