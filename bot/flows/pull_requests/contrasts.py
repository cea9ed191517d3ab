"""Once a change is certain and several terms may carry it: further configurations that tell them apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.analysis.telling_apart import Doubt, telling
from bot.flows.run.evidence import Evidence
from bot.model.space import Configuration, Space
from bot.sampling.schedule import FAILURES, Schedule

Crossings = Callable[[Configuration, Sequence[Configuration]], Sequence[Configuration]]
"""Configurations that can be measured, between one and others."""

AT_ONCE = 3
"""Configurations asked for at once: they tell eight groups of terms apart."""
MOST_ASKED = 24
"""Configurations asked for in a run. Arbitrary: the time ends before, mostly."""
LEAST_TOLD = 0.1
"""Bits: a configuration that is expected to tell less is not worth its pairs."""
AGAIN = 1.1
"""Growth of the pairs after which it is asked again whether there is a doubt."""


@dataclass
class Contrasts:
    """Asks for configurations between one that changed and some that did not, until a term is sure."""

    space: Space
    crossings: Crossings
    evidence: Evidence
    schedule: Schedule
    asked: list[Configuration] = field(default_factory=list)
    _pairs: int = 0
    _next: float = 0.0

    def active(self) -> Sequence[Configuration] | None:
        """What is measured next: what was asked for, else what the estimator wants."""
        return self.pending or self.evidence.active()

    @property
    def pending(self) -> list[Configuration]:
        """Asked for, and not measured often enough yet."""
        known, lost = self.evidence.ok_pairs, self.evidence.failed_pairs
        return [c for c in self.asked if known[c] < self._pairs and lost[c] < FAILURES]

    @property
    def decided(self) -> bool:
        """Whether nothing is left that more pairs could decide."""
        return self.evidence.decided and not self.pending

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the configurations must know."""
        if not self.asked:
            return ()
        many = "configuration was" if len(self.asked) == 1 else "configurations were"
        return (f"{len(self.asked)} {many} added to tell apart what may carry a change that was certain.",)

    def observe(self) -> None:
        """After each pair: asks for more when there is a doubt that they would clear up."""
        evidence = self.evidence
        if not evidence.alarmed or self.pending or len(self.asked) >= MOST_ASKED:
            return
        if evidence.pairs < self._next and not evidence.decided:
            return
        self._next = AGAIN * evidence.pairs
        found = evidence.doubt()
        if found is not None and (chosen := self._telling(found)):
            self._pairs = found.pairs
            self._next = 0.0
            self.asked += chosen
            evidence.extend(chosen)
            self.schedule.extend(chosen)

    def _telling(self, found: Doubt) -> list[Configuration]:
        between = self.crossings(found.changed, found.spared)
        known = set(self.schedule.configurations)
        pool = [c for c in dict.fromkeys(between) if c not in known]
        most = min(AT_ONCE, MOST_ASKED - len(self.asked))
        return [pool[i] for i in telling(found, self.space, pool, most=most, least=LEAST_TOLD)]
