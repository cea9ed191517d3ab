"""Tells where base is worse than it was, as history knows, and what a pull request makes of that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.analysis.diagnose import Rule
from bot.analysis.past_changes import NamedChanges, PastChange
from bot.analysis.past_harm import PastHarm, past_harms
from bot.flows.history.accepting import Accepted
from bot.model.report import Effect

STATES = 3
"""Harms of base that are told one by one, the largest first; of the others the terms."""
LIKELY = 3
"""Terms that are told where history does not single one out."""
WHOLE, PART = 0.75, 0.3
"""A change that takes back so much of a harm undoes it, or a part of it: both sizes are estimates."""


@dataclass(frozen=True)
class BaseState:
    """What history knows of base's harms in one metric; labels: of base's line, oldest first."""

    rule: Rule
    harms: tuple[PastHarm, ...]
    labels: Sequence[str]

    @classmethod
    def of(
        cls,
        changes: Sequence[PastChange],
        rule: Rule,
        labels: Sequence[str],
        *,
        named: NamedChanges | None = None,
    ) -> BaseState:
        """The state after these changes; named: what nights know better."""
        harms = past_harms(changes, sign=_sign(rule), margin=math.log1p(rule.threshold), named=named)
        return cls(rule, harms, labels)

    def notes(self, accepted: Accepted | None) -> list[str]:
        """In which terms base is worse than it once was: nobody undid it, and nobody accepted it."""
        worse = [h for h in self.harms if h.undone is None and not self._accepted(h, accepted)]
        told = [f"History: base is {self._worse(harm)}." for harm in worse[:STATES]]
        if more := "; ".join(_names(harm) for harm in worse[STATES:]):
            told.append(f"History: base is worse in {self.rule.name} in {more}, too.")
        return told

    def ratio(self, effect: Effect) -> float | None:
        """By which factor base is worse than it was in an effect's term; None: it is not, or nobody knows."""
        harm = self._harm(effect)
        return None if harm is None or harm.undone is not None else self._ratio(harm)

    def answers(self, effects: Iterable[Effect]) -> list[str]:
        """What the changes that this run is sure of have to do with what history knows of their terms."""
        told = []
        for effect in effects:
            harm = self._harm(effect) if effect.significant else None
            told += [self._answer(harm, effect)] if harm else []
        return [answer for answer in told if answer]

    def _harm(self, effect: Effect) -> PastHarm | None:
        """What made an effect's term worse in the past."""
        alike = (effect.term, *effect.aliases) if effect.metric == self.rule.name else ()
        return next((h for h in self.harms if h.term is not None and h.term in alike), None)

    def _answer(self, harm: PastHarm, effect: Effect) -> str:
        change = _sign(self.rule) * math.log(effect.ratio)
        if change > 0 and harm.undone is not None:
            before = f"{self._worse(harm)}, until {self._where(harm.undone)} took that back"
            return f"History: the program was {before}; this pull request makes it worse there again."
        if change > 0:
            return f"History: base is {self._worse(harm)} already; what this pull request adds comes on top."
        if harm.undone is not None or -change < PART * harm.size:
            return ""
        part = "" if -change >= WHOLE * harm.size else "a part of "
        return f"History: this pull request takes back {part}what made base {self._worse(harm)}."

    def _accepted(self, harm: PastHarm, accepted: Accepted | None) -> bool:
        return accepted is not None and any(
            accepted.by_entry(term, self.rule.name, self._ratio(harm)) is not None for term in harm.terms
        )

    def _ratio(self, harm: PastHarm) -> float:
        return math.exp(_sign(self.rule) * harm.size)

    def _worse(self, harm: PastHarm) -> str:
        return (
            f"{100 * math.expm1(harm.size):.1f} % worse in {self.rule.name} ({_names(harm)})"
            f" since {self._where(harm.raised)}"
        )

    def _where(self, change: PastChange) -> str:
        last = f"`{self.labels[change.place]}`"
        first = change.before + 1
        return last if first == change.place else f"one of `{self.labels[first]}` to {last}"


def _sign(rule: Rule) -> float:
    """Of the log ratio of what is worse."""
    return 1.0 if rule.better == "lower" else -1.0


def _names(harm: PastHarm) -> str:
    """Its term, or the likeliest where history does not single one out."""
    shown = ["+".join(term) or "everything" for term in harm.terms[:LIKELY]]
    return shown[0] if harm.term is not None else f"{', '.join(shown)} or another term"
