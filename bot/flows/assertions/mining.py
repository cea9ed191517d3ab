"""Mines path models of a running program: what to watch next is what teaches most (seeds/002, section 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bot.analysis.assertions.borders import borders, published_borders
from bot.analysis.assertions.modelling import MOSTLY, joined
from bot.analysis.assertions.pace import evened
from bot.analysis.assertions.stability import LAST, SHARE, first_stable, stable_borders, utility
from bot.flows.assertions.mining_choice import Price, brief, choose, with_callers
from bot.flows.assertions.mining_spending import MOST_SHIFT, Spending
from bot.flows.assertions.mining_state import LEAST_OBSERVATIONS, UNSETTLED, Candidate, Estimator, Mined
from bot.flows.influences.call_observations import MOST_NESTED, MOST_POINTS, nested, observed, recursive
from bot.flows.methods.call_graph import CallGraph
from bot.flows.notes import Notes
from bot.flows.ports import ProfileBench
from bot.model.assertions import CallObservation, Floats
from bot.model.profiles import Method, Profile
from bot.model.space import Configuration

HOT = 40
"""Methods that mining begins with, the hottest."""
MOST_OBSERVATIONS = {"timing": 5, "paths": 10}
"""Trials of a stage from which on more are not waited for, however unstable the borders are."""
LEAST_CALLS = 20
"""Calls in a trial below which nothing can be said of a method's distribution."""
RESTING_SHARE = 0.1
"""Of the time that is left, for one watched trial and its rests, when there is more than one."""
HOPELESS = 3
"""Trials that fail in a row until mining gives up."""
_SELDOM = f"called less than {LEAST_CALLS} times in a trial"
_UNSEEN = "its calls were not seen: too short, or too many to be watched in this time"


@dataclass
class Mining:
    """Watches trials of one configuration until `until` seconds on a clock.

    hints: ends of names of methods to be mined first. keep: is given each watched trial.
    """

    bench: ProfileBench
    configuration: Configuration
    clock: Callable[[], float]
    until: float
    overhead: float = 0.1
    estimator: Estimator = "ours"
    hints: Sequence[str] = ()
    tell: Callable[[str], None] = lambda text: None  # noqa: ARG005
    keep: Callable[[Profile], None] = lambda profile: None  # noqa: ARG005
    _candidates: dict[Method, Candidate] = field(default_factory=dict)
    _notes: Notes = field(default_factory=Notes)
    _trial: float = 0.0
    """Wall seconds of a trial."""
    _longest: float = 0.0
    _watched: int = 0
    _failed: int = 0
    _spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        self._spending = Spending(self.overhead)

    def run(self) -> Mined:
        """Mines as long as there is time and something to learn; whatever fails ends in notes."""
        if missing := self.bench.missing():
            return Mined(notes=(*missing, "Nothing was mined."))
        self.tell("profiling, to find hot methods")
        coarse = self.bench.profile("head", self.configuration, seconds=self.until - self.clock())
        self._notes.say(*coarse.notes)
        if coarse.outcome != "ok" or not coarse.methods:
            return Mined(notes=(*self._notes.told, f"Nothing was mined: the profile {coarse.ending}."))
        graph = CallGraph(coarse)
        self._begin(coarse, self._hinted(coarse) or graph.hot[:HOT])
        finished = False
        while not finished and self._failed < HOPELESS:
            chosen = self._chosen(graph) or self._reopened(graph)
            finished = not chosen
            if not chosen or not self._watch(chosen, graph):
                break
            for candidate in chosen:
                self._advance(candidate, graph)
            self._climb(graph)
        return self._mined(graph, finished=finished)

    def _hinted(self, coarse: Profile) -> list[Method]:
        found = [m for hint in self.hints for m in sorted(coarse.methods) if m.name.endswith(hint)]
        for hint in self.hints:
            if not any(m.name.endswith(hint) for m in found):
                self._notes.say(f"No method that is called ends with `{hint}`.")
        return found

    def _begin(self, coarse: Profile, methods: Iterable[Method]) -> None:
        """New candidates; those called too seldom are refused at once."""
        for method in methods:
            if method in self._candidates:
                continue
            cost = coarse.methods.get(method)
            candidate = Candidate(method, 0.0 if cost is None else cost.self_share)
            if cost is not None and cost.calls is not None and cost.calls < LEAST_CALLS:
                candidate.refuse(_SELDOM)
            self._candidates[method] = candidate

    def _climb(self, graph: CallGraph) -> None:
        """Callers of what cannot be watched, or comes last because it is too short, become candidates."""
        price = self._price(graph)
        for c in list(self._candidates.values()):
            if c.stage == "refused" or brief(c, graph, price):
                self._begin(graph.coarse, graph.callers.get(c.method, ()))

    @property
    def _find(self) -> Callable[[Floats], Floats]:
        return borders if self.estimator == "ours" else published_borders

    def _utility(self, candidate: Candidate) -> float:
        if len(candidate.observations) < LEAST_OBSERVATIONS:
            return 1.0
        return utility(candidate.observations, now=self.clock(), find=self._find)

    def _chosen(self, graph: CallGraph) -> list[Candidate]:
        """What to watch in the next trial; what can never be watched is refused."""
        while True:
            left = [c for c in self._candidates.values() if c.stage in ("timing", "paths")]
            price = self._price(graph)
            chosen = choose(left, graph, utility=self._utility, price=price)
            if not chosen or not self._spending.measured:
                return chosen
            calls = sum(map(graph.calls, with_callers(chosen[0], graph)))
            if (needed := price.rests(calls)) <= chosen[0].rests:
                return chosen
            if brief(chosen[0], graph, price):
                chosen[0].give_up(_UNSEEN)
            else:
                self._rest(chosen[0], least=needed)

    def _reopened(self, graph: CallGraph) -> list[Candidate]:
        """Methods to watch, once those without a model may be watched as long again."""
        known = [c for c in self._candidates.values() if c.stage == "known" and c.observations]
        unsettled = [c for c in known if c.turns == 1 and c.model(self.estimator) is None]
        for candidate in unsettled:
            candidate.stage, candidate.turns = "paths", 2
        return self._chosen(graph)

    def _price(self, graph: CallGraph) -> Price:
        return self._spending.price(graph.coarse.plain_seconds)

    def _watch(self, chosen: Sequence[Candidate], graph: CallGraph) -> bool:
        """One watched trial; whether there was time for it."""
        began = self.clock()
        if began + self._longest >= self.until:
            return False
        methods = list(dict.fromkeys(m for c in chosen for m in with_callers(c, graph)))
        rests = self._spending.rests(chosen[0].rests)
        profile = self.bench.watch(
            "head",
            self.configuration,
            methods,
            graph.coarse,
            seconds=self.until - began,
            overhead=self.overhead * (chosen[0].rests + 1),
            rests=rests,
        )
        end = self.clock()
        self._longest = max(self._longest, end - began)
        self._notes.say(*profile.notes)
        if profile.outcome == "cut":
            return False
        if profile.outcome != "ok":
            self._failed += 1
            return True
        self._failed = 0
        self._watched += 1
        self._spending.book(profile, map(graph.calls, methods), rests)
        self._trial = (end - began) / (rests + 1)
        self.keep(profile)
        wanted = {c.method: with_callers(c, graph) for c in chosen}
        found = observed(profile, start=began, end=end, edges=graph.edges, wanted=wanted)
        self._take(chosen, profile, found, graph)
        return True

    def _take(
        self,
        chosen: Sequence[Candidate],
        profile: Profile,
        found: Mapping[Method, CallObservation],
        graph: CallGraph,
    ) -> None:
        """Gives each candidate its observation, unless others took too much of its time."""
        below, again = nested(profile), recursive(profile)
        for candidate in chosen:
            own = found.get(candidate.method)
            if own is None or not len(own.every):
                self._unseen(candidate, graph, counted=candidate.method in profile.methods)
            elif below.get(candidate.method, 0.0) > MOST_NESTED and not candidate.alone:
                candidate.alone = True
            elif below.get(candidate.method, 0.0) > MOST_NESTED and candidate.stage == "timing":
                candidate.refuse("watching it perturbs it too much")
            else:
                whole = candidate.callers or profile.tool.callers
                candidate.observations.append(own if whole else own.without_paths(candidate.method.name))
                candidate.shift = (
                    profile.tool.left * profile.tool.bias / max(float(np.median(own.every)), 1e-9)
                )
                if candidate.method in again:
                    self._notes.say(
                        f"`{candidate.method.name}` calls itself: calls at all depths were timed."
                    )

    def _unseen(self, candidate: Candidate, graph: CallGraph, *, counted: bool) -> None:
        """What the tool counted, but could not time, may be too short, or perturbed by others."""
        short = brief(candidate, graph, self._price(graph))
        if counted and (short or candidate.alone):
            candidate.give_up("calls too short for the tool")
        elif short:
            candidate.give_up(_UNSEEN)
        elif not counted:
            self._rest(candidate)
        candidate.alone = True

    def _rest(self, candidate: Candidate, *, least: int = 0) -> None:
        """What was not seen may be called too often: more rests allow for more overhead."""
        most = self._spending.most_rests
        more = max(least, min(2 * candidate.rests + 1, most))
        too_many = more > most or candidate.rests == most
        if too_many or more * self._trial > RESTING_SHARE * (self.until - self.clock()):
            candidate.give_up(_UNSEEN)
        candidate.rests = more

    def _advance(self, candidate: Candidate, graph: CallGraph) -> None:
        """The next stage of figure 3, when there is enough data; then its callers become candidates."""
        seen = candidate.observations
        if candidate.stage not in MOST_OBSERVATIONS or not seen:
            return
        if candidate.shift > MOST_SHIFT:
            candidate.refuse(f"calls so short that the tool may shift them by more than {MOST_SHIFT:.0%}")
            return
        if len(seen) < LEAST_OBSERVATIONS:
            return
        if candidate.points < LEAST_CALLS * len(seen):
            candidate.refuse(_SELDOM)
            return
        parts, share = (joined(evened(seen)), MOSTLY) if self.estimator == "ours" else (seen[-LAST:], SHARE)
        found = stable_borders(parts, share=share, find=self._find)
        first = first_stable(parts, found, find=self._find)
        lasting = first is not None and len(parts) - parts.index(first) >= LEAST_OBSERVATIONS
        trials, points = candidate.turns * MOST_OBSERVATIONS[candidate.stage], candidate.turns * MOST_POINTS
        enough = candidate.points >= points or len(seen) >= trials
        if not lasting and not enough:
            return
        if candidate.stage == "timing" and len(found) and graph.above(candidate.method):
            candidate.stage = "paths"
            if not self._spending.tool.callers:
                candidate.callers, candidate.earlier, candidate.observations = True, seen, []
        elif not enough and candidate.model(self.estimator) is None:
            return
        else:
            candidate.stage = "known"
            self._begin(graph.coarse, graph.callers.get(candidate.method, ()))
        known = sum(c.stage == "known" for c in self._candidates.values())
        refused = sum(c.stage == "refused" for c in self._candidates.values())
        self.tell(
            f"mining: {known} methods known, {len(self._candidates) - known - refused} watched,"
            f" {refused} refused"
        )

    def _mined(self, graph: CallGraph, *, finished: bool) -> Mined:
        every = sorted((c for c in self._candidates.values() if c.enough), key=lambda c: c.method)
        models = {c.method: made for c in every if (made := c.model(self.estimator)) is not None}
        refused: dict[str, list[Method]] = defaultdict(list)
        for c in self._candidates.values():
            if c.stage == "refused":
                refused[c.reason].append(c.method)
            elif c.enough and c.method not in models:
                refused[UNSETTLED].append(c.method)
        hot = graph.hot[:HOT]
        shares = graph.coarse.methods
        if not finished:
            left = sum(c.stage in ("timing", "paths") for c in self._candidates.values())
            were = "1 method was" if left == 1 else f"{left} methods were"
            self._notes.say(f"Mining stopped before all was known: {were} still watched.")
        return Mined(
            models=list(models.values()),
            observations={c.method: tuple(c.enough) for c in every},
            shifts={c.method: c.shift for c in every if c.method in models},
            refused=dict(refused),
            hot=(
                sum(shares[m].self_share for m in hot),
                sum(shares[m].self_share for m in hot if m in models),
            ),
            within=graph.within(models),
            overhead=self._spending.share,
            trials=self._watched,
            finished=finished,
            notes=self._notes.told,
        )
