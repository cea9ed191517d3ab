"""Decides on pairs of unlike machines: their kind is one more factor, and its size a random effect."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.analysis.candidates import Equivalent
from bot.analysis.diagnose import PairedEstimator, Rule
from bot.analysis.judgement import Judgement
from bot.analysis.likelihood import LAYOUT
from bot.analysis.machines.merging import Combined, RunnerChange, combined, only_on
from bot.analysis.pairs import Floats, PairLog, locations, scales
from bot.analysis.watch import FLOOR
from bot.model.report import ConfigurationChange, Effect, State, Visible
from bot.model.space import Configuration, Option, Space, Term

SHOWN = 0.9
"""Level of the intervals that a report shows."""
UNLIKE = 0.05
"""Machines whose changes differ so improbably by chance are told apart."""
_Z = 1.6448536269514722
"""Half a 90 % interval, in standard errors."""


@dataclass(frozen=True)
class Machine:
    """Pairs of one kind of machine: rows, and log ratios (head / base) of each metric, (n_pairs,) each."""

    kind: str
    rows: NDArray[np.int64]
    log_ratios: Mapping[str, Floats]


class MachinesEstimator(PairedEstimator):
    """As `PairedEstimator`, on rows that are a configuration on a kind of machine each.

    The kind is given to the estimator as a further option of the program, so that a change on one kind only
    is a pair of levels like any other. What is told is told of the program's own options: a term without the
    kind; where kinds differ, with the size of a random effect over them; in words, where only one has it.

    rows: configurations with their kind. machines: the pairs by kind; read when the verdict is asked for.
    """

    def __init__(
        self,
        *,
        space: Space,
        rows: Sequence[tuple[Configuration, str]],
        machines: Sequence[Machine],
        rules: Sequence[Rule],
        false_alarms: float,
        equivalent: Equivalent,
        rng: np.random.Generator,
        possible: Callable[[Term], bool],
    ) -> None:
        self.own, self.machines = space, tuple(machines)
        name = "machine"
        while name in space.names:
            name += "_"
        self._mark = f"{name}="
        kinds = tuple(dict.fromkeys(kind for _, kind in rows))
        super().__init__(
            space=replace(space, options=(*space.options, Option(name, "choice", kinds, kinds[0]))),
            configurations=[(*configuration, kind) for configuration, kind in rows],
            rules=rules,
            false_alarms=false_alarms,
            equivalent=lambda a, b: (
                self._kinds(a) == self._kinds(b) and equivalent(self._rest(a), self._rest(b))
            ),
            rng=rng,
            possible=lambda term: not self._kinds(term) and possible(term),
        )

    def judge(self) -> Judgement:
        """The verdict on all machines' pairs, in terms of the program's own options."""
        found = super().judge()
        notes = list(found.notes)
        told: dict[tuple[str, Term], list[Effect]] = defaultdict(list)
        for effect in found.options:
            told[effect.metric, self._rest(effect.term)].append(effect)
        options = [self._told(several, found.options, notes) for several in told.values()]
        overall = [e for e in found.effects if e.term == () and not e.significant]
        spoken = {effect.metric for effect in options if effect.term == ()}
        overall = [e for e in overall if e.metric not in spoken]
        return replace(
            found,
            effects=(*map(self._plain, overall), *options),
            options=tuple(options),
            configurations=tuple(self._configurations(found.configurations)),
            visible=self._visible(found.visible),
            notes=tuple(notes),
            suspected=tuple(self._plain(e) for e in found.suspected if self._rest(e.term) or not e.term),
        )

    def _told(self, several: Sequence[Effect], named: Sequence[Effect], notes: list[str]) -> Effect:
        """One effect of the program's own term, from what was named with and without kinds of machines."""
        first = max(several, key=lambda e: e.probability)
        effect = self._plain(first)
        changes = self.changes(effect.metric, effect.term, named)
        if len(changes) < 2:
            return effect
        rule = next(rule for rule in self.rules if rule.name == effect.metric)
        margin = math.log1p(rule.threshold)
        only = only_on(changes, margin=margin)
        term = "+".join(effect.term) or "everything"
        shown = "; ".join(f"{_percent(combined([c], level=SHOWN))} on {c.kind}" for c in changes)
        if only:
            notes.append(f"{effect.metric} of {term} changed on {' and '.join(only)} only: {shown}.")
            return _sized(effect, [c for c in changes if c.kind in only])
        if combined(changes).alike >= UNLIKE and not self._kinds(first.term):
            return effect
        told = _worth_telling(changes, math.log(effect.ratio), margin)
        of = f"; told is that of {' and '.join(c.kind for c in told)}" if 0 < len(told) < len(changes) else ""
        notes.append(f"{effect.metric} of {term} is not the same on all kinds of machines: {shown}{of}.")
        return _sized(effect, told)

    def changes(self, metric: str, term: Term, named: Sequence[Effect]) -> list[RunnerChange]:
        """What the pairs of each kind of machine say of a term, without what other named effects explain.

        Of a term that another one spares, what is seen is told, and nothing of it of the other one.
        """
        covers, others = self._held(term), np.zeros(len(self.configurations))
        for effect in (e for e in named if e.metric == metric):
            if self._rest(effect.term) == term:
                for spared in effect.spared:
                    covers &= ~self._held(spared)
            elif term not in effect.spared:
                others += math.log(effect.ratio) * self._held(effect.term)
        found = []
        for machine in self.machines:
            change = self._change(machine, metric, covers, others)
            if change is not None:
                found.append(change)
        return found

    def _held(self, term: Term) -> NDArray[np.bool_]:
        """Rows that hold a term."""
        return np.array([self.space.carries(term, c) for c in self.configurations], dtype=bool)

    def _change(
        self, machine: Machine, metric: str, covers: NDArray[np.bool_], others: Floats
    ) -> RunnerChange | None:
        values = machine.log_ratios[metric]
        use = np.isfinite(values) & covers[machine.rows]
        if use.sum() < 2:
            return None
        log = PairLog(len(covers))
        log.add_all(machine.rows[use], values[use] - others[machine.rows[use]])
        seen = log.counts > 0
        floor = FLOOR * self._watches[metric].margin
        logged, counts = log.values[seen], log.counts[seen]
        location, variance = locations(logged, counts, scales(logged, counts, floor))
        weight = 1.0 / (variance + LAYOUT**2)
        mean = float(weight @ location / weight.sum())
        return RunnerChange(machine.kind, machine.kind, mean, float(1 / math.sqrt(weight.sum())))

    def _plain(self, effect: Effect) -> Effect:
        term = self._rest(effect.term)
        aliases = dict.fromkeys(self._rest(alias) for alias in effect.aliases)
        spared = tuple(one for one in effect.spared if not self._kinds(one))  # of kinds, the notes tell
        update = {"term": term, "aliases": tuple(a for a in aliases if a != term), "spared": spared}
        return effect.model_copy(update=update)

    def _rest(self, term: Term) -> Term:
        return tuple(level for level in term if not level.startswith(self._mark))

    def _kinds(self, term: Term) -> Term:
        return tuple(level for level in term if level.startswith(self._mark))

    def _configurations(self, changes: Sequence[ConfigurationChange]) -> list[ConfigurationChange]:
        """One entry for each of the program's configurations and metrics, over all kinds."""
        groups: dict[tuple[Any, ...], list[ConfigurationChange]] = defaultdict(list)
        for change in changes:
            options = {name: change.options[name] for name in self.own.names}
            key = (change.metric, *options.values())
            groups[key].append(change.model_copy(update={"options": options}))
        return [_united(several) for several in groups.values()]

    def _visible(self, found: Visible) -> Visible:
        """Without the kinds of machines."""
        return found.model_copy(
            update={
                "options": tuple(o for o in found.options if o.option in self.own.index),
                "levels_not_exercised": self._rest(found.levels_not_exercised),
            }
        )


def _worth_telling(changes: Sequence[RunnerChange], named: float, margin: float) -> Sequence[RunnerChange]:
    """The kinds whose mean is told: all, unless they cancel out to less than is worth telling.

    Then those that have the change that alarmed. named: its log ratio over all pairs.
    """
    direction = math.copysign(1.0, named)
    if math.log(_size(changes)[0]) * direction > margin:
        return changes
    return [one for one in changes if one.change * direction > margin]


def _sized(effect: Effect, changes: Sequence[RunnerChange]) -> Effect:
    """The effect with the random-effects size; of no kinds: as it is."""
    if not changes:
        return effect
    ratio, interval = _size(changes)
    return effect.model_copy(update={"ratio": ratio, "interval": interval})


def _size(changes: Sequence[RunnerChange]) -> tuple[float, tuple[float, float]]:
    """Random-effects ratio and interval, which is no wider than the intervals of all kinds together."""
    found = combined(changes, level=SHOWN)
    own = [combined([change], level=SHOWN).interval for change in changes]
    low = max(found.interval[0], min(bounds[0] for bounds in own))
    high = min(found.interval[1], max(bounds[1] for bounds in own))
    return found.ratio, (low, high)


def _united(several: Sequence[ConfigurationChange]) -> ConfigurationChange:
    """A configuration's change over kinds of machines; slower on one of them is slower."""
    known = [c for c in several if c.ratio is not None and c.interval is not None]
    if len(known) < 2:
        return (known or several)[0]
    changes = []
    for i, one in enumerate(known):
        low, high = (math.log(bound) for bound in one.interval or ())
        changes.append(RunnerChange(str(i), str(i), (low + high) / 2, max((high - low) / 2 / _Z, 1e-12)))
    ratio, interval = _size(changes)
    states = {one.state for one in several}
    moved: set[State] = states & {"slower", "faster"}
    state: State = "unclear"
    if len(moved) == 1:
        (state,) = moved
    elif states == {"same"}:
        state = "same"
    return known[0].model_copy(
        update={
            "ratio": ratio,
            "interval": interval,
            "pairs": sum(one.pairs for one in several),
            "state": state,
        }
    )


def _percent(found: Combined) -> str:
    low, high = found.interval
    return f"{100 * (found.ratio - 1):+.1f} % ({100 * (low - 1):+.1f} to {100 * (high - 1):+.1f})"
