"""Checks performance assertions: their methods are watched at base and head in turn, and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.analysis.assertions.checked import Checked
from bot.analysis.assertions.checking import check, proposed
from bot.analysis.assertions.checking_shifts import LEAST_TRIALS
from bot.flows.influences.call_observations import MOST_NESTED, nested, observed
from bot.flows.methods.call_graph import CallGraph
from bot.flows.notes import Notes
from bot.flows.ports import ProfileBench
from bot.model.assertions import Assertion, CallObservation
from bot.model.profiles import Method, Profile
from bot.model.space import Configuration
from bot.model.trials import Side

TRIALS = 4
"""Of each side, of each group of methods that are watched together; with time left, `MOST_TRIALS`."""
MOST_TRIALS = 8
OVERHEAD = 3.0
"""Share by which a watched trial may take longer: both sides do, and it is their ratio that counts."""
AT_ONCE = 12
"""Methods that are watched in one trial at most, without their callers."""
PROFILED: Mapping[Side, float] = {"base": 0.5, "head": 0.6}
"""Share of the seconds left that the profile of a side may take: a fifth of all stays for watching."""


@dataclass(frozen=True)
class CheckedAssertion:
    """An assertion and what this run says of it; proposed: the entry as head would have it."""

    assertion: Assertion
    checked: Checked
    proposed: Assertion
    base: Sequence[CallObservation]
    head: Sequence[CallObservation]

    @property
    def violated(self) -> bool:
        """Whether the assertion does not hold at head."""
        return self.checked.outcome == "violated"


NOT_WATCHED = "its calls could not be watched at base and head"
NO_CALLERS = "calls were not counted in the time there was, so that its callers are not known"


@dataclass
class _Asked:
    """An assertion's method, where and in which trials it was watched, and what may be watched with it."""

    assertion: Assertion
    method: Method
    alone: bool = False
    watched: set[Side] = field(default_factory=set)
    seen: dict[Side, list[CallObservation]] = field(default_factory=lambda: {"base": [], "head": []})


@dataclass
class AssertionInquiry:
    """Watches asserted methods in one configuration until `until` seconds on a clock.

    false_alarms: chance that any assertion of an unchanged program is called violated.
    """

    bench: ProfileBench
    configuration: Configuration
    clock: Callable[[], float]
    until: float
    false_alarms: float
    tell: Callable[[str], None]
    _notes: Notes = field(default_factory=Notes)
    _graphs: dict[Side, CallGraph] = field(default_factory=dict)
    _callers: bool = False
    """Whether the tool sees callers only where they are watched, too."""
    _cost: float = 5e-7
    _longest: float = 0.0

    @property
    def notes(self) -> Sequence[str]:
        """What a reader must know."""
        return self._notes.told

    def run(self, assertions: Sequence[Assertion]) -> list[CheckedAssertion]:
        """Each assertion with its outcome, in their order; whatever fails ends as undecided, and in notes."""
        asked: list[_Asked] = []
        each = self.false_alarms / max(len(assertions), 1)
        if missing := self.bench.missing():
            self._notes.say(*missing, "No performance assertion could be checked.")
        elif self._profiled():
            graph = self._graphs["base"]
            every = {(m.name, m.file): m for m in graph.coarse.methods}
            asked = [_Asked(a, every[key]) for a in assertions if (key := (a.method, a.file)) in every]
            self._watch_all(asked, graph)
            self._watch_again(asked, graph, false_alarms=each)
        by_id = {one.assertion.id: one for one in asked}
        return [self._checked(a, by_id.get(a.id), false_alarms=each) for a in assertions]

    def _checked(
        self, assertion: Assertion, asked: _Asked | None, *, false_alarms: float
    ) -> CheckedAssertion:
        """What was seen is looked at only if there is enough of it to tell groups apart on both sides."""
        unseen = self._unseen(assertion, asked)
        seen = {} if unseen or asked is None else asked.seen
        base, head = seen.get("base", ()), seen.get("head", ())
        result = check(assertion, base, head, false_alarms=false_alarms)
        if unseen:
            result = replace(result, why=(unseen,))
        return CheckedAssertion(
            assertion, result, proposed(assertion, head, borders=result.borders), base, head
        )

    def _unseen(self, assertion: Assertion, asked: _Asked | None) -> str | None:
        """Why nothing is known of a method's calls; None: they were watched, or there is no such method."""
        if len(self._graphs) < len(PROFILED):
            return NOT_WATCHED
        if asked is None:
            return None
        if len(asked.watched) < len(PROFILED):
            return NOT_WATCHED
        return NO_CALLERS if self._callers and assertion.atoms and not self._graphs["base"].edges else None

    def _profiled(self) -> bool:
        """Whether base and head were profiled: that tells how often methods are called."""
        for side, share in PROFILED.items():
            self.tell(f"profiling {side} for its assertions")
            left = self.until - self.clock()
            profile = self.bench.profile(side, self.configuration, seconds=share * left)
            self._notes.say(*profile.notes)
            if profile.outcome != "ok" or not profile.methods:
                self._notes.say(
                    f"No performance assertion was checked: the profile of {side} {profile.ending}."
                )
                return False
            self._graphs[side] = CallGraph(profile)
        return True

    def _watch_again(self, asked: Sequence[_Asked], graph: CallGraph, *, false_alarms: float) -> None:
        """What seems violated is watched anew, and only that counts; without time, the first trials do.

        By chance a machine may be in one mood for most trials of base and in another for most of head.
        """
        once = [a for a in asked if self._checked(a.assertion, a, false_alarms=false_alarms).violated]
        first = [one.seen for one in once]
        for one in once:
            one.seen = {"base": [], "head": []}
        self._watch_all(once, graph, "what seems violated")
        for one, seen in zip(once, first, strict=True):
            if min(map(len, one.seen.values())) < LEAST_TRIALS:
                one.seen = seen

    def _watch_all(self, asked: Sequence[_Asked], graph: CallGraph, what: str = "assertions") -> None:
        """Both sides in turn, the side that begins changes; more rounds while there is time."""
        for number in range(MOST_TRIALS):
            batches = list(self._batches(asked, graph))
            for place, batch in enumerate(batches, 1):
                self.tell(f"checking {what}: round {number + 1}, {place} of {len(batches)}")
                for side in _turn(number):
                    if not self._watch(side, batch, graph):
                        return
            if number + 1 >= TRIALS and self.clock() + 2 * len(batches) * self._longest > self.until:
                return

    def _batches(self, asked: Sequence[_Asked], graph: CallGraph) -> Iterator[list[_Asked]]:
        """What is watched together: as much as the overhead allows, and nothing that perturbs another."""
        allowed = OVERHEAD * graph.coarse.plain_seconds
        batch: list[_Asked] = []
        left = allowed
        for one in sorted(asked, key=lambda a: (a.alone, graph.calls(a.method))):
            cost = self._cost * sum(graph.calls(m) for m in self._with_callers(one, graph))
            if batch and (one.alone or cost > left or len(batch) >= AT_ONCE):
                yield batch
                batch, left = [], allowed
            batch.append(one)
            left -= cost
        if batch:
            yield batch

    def _with_callers(self, one: _Asked, graph: CallGraph) -> list[Method]:
        return [one.method, *(graph.above(one.method) if self._callers else ())]

    def _watch(self, side: Side, batch: Sequence[_Asked], graph: CallGraph) -> bool:
        """One trial; whether there was time for it."""
        began = self.clock()
        if began + self._longest >= self.until:
            return False
        profile = self._watched(side, batch, graph)
        if profile.outcome != "ok":
            self._longest = max(self._longest, self.clock() - began)
            if profile.outcome != "cut":
                self._notes.say(f"A watched trial of {side} failed ({profile.outcome}).")
            return profile.outcome != "cut"
        if not self._callers and not profile.tool.callers:
            self._callers = True
            profile = self._watched(side, batch, graph)
        edges = self._graphs[side].edges
        wanted = {one.method: self._with_callers(one, graph) for one in batch}
        found = observed(profile, start=began, end=self.clock(), edges=edges, wanted=wanted)
        self._longest = max(self._longest, self.clock() - began)
        self._cost = profile.tool.seconds_per_call or self._cost
        below = nested(profile)
        for one in batch:
            one.watched.add(side)
            if below.get(one.method, 0.0) > MOST_NESTED and len(batch) > 1:
                one.alone = True
                one.seen = {"base": [], "head": []}
            elif not (one.alone and len(batch) > 1) and one.method in found:
                one.seen[side].append(found[one.method])
        return True

    def _watched(self, side: Side, batch: Sequence[_Asked], graph: CallGraph) -> Profile:
        methods = list(dict.fromkeys(m for one in batch for m in self._with_callers(one, graph)))
        left = self.until - self.clock()
        profile = self.bench.watch(
            side,
            self.configuration,
            methods,
            self._graphs[side].coarse,
            seconds=left,
            overhead=OVERHEAD,
            rests=0,
        )
        self._notes.say(*profile.notes)
        return profile


def _turn(number: int) -> tuple[Side, Side]:
    return ("base", "head") if number % 2 == 0 else ("head", "base")
