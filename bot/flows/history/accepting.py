"""Marks the changes of a report that people accepted; what is accepted is shown, and alarms no longer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from bot.model.accepted import PATH, AcceptedChange
from bot.model.comment_commands import term_text
from bot.model.report import Acceptance, Effect, Report
from bot.model.space import Space, Term
from bot.report.words import worse

LABEL = "suspects: accepted"
"""On a pull request, it accepts all that this pull request changes for the worse."""


@dataclass(frozen=True)
class Accepted:
    """What people accepted: the entries of a file, and whether the pull request has the label."""

    today: date
    entries: tuple[AcceptedChange, ...] = ()
    labelled: bool = False

    def of(self, report: Report, effect: Effect) -> Acceptance | None:
        """The acceptance of an effect; None: it is for the better, or nobody accepted it."""
        if not harmful(report, effect):
            return None
        return self.by_entry(effect.term, effect.metric, effect.ratio, base_ratio=effect.base_ratio) or (
            Acceptance(source="label") if self.labelled else None
        )

    def by_entry(
        self, term: Term, metric: str, ratio: float, *, base_ratio: float | None = None
    ) -> Acceptance | None:
        """The acceptance of a change for the worse; None: no entry that still counts covers it.

        base_ratio: by which factor base is worse there already (None: by none). Entries for that say nothing
        of a further change: what was accepted is the new level.
        """
        counting = [e for e in self.entries if self.today <= e.until and (e.term, e.metric) == (term, metric)]
        used = [] if base_ratio is None else _used(counting, base_ratio)
        for entry in counting:
            if entry not in used and entry.covers(term, metric, ratio):
                return Acceptance(source="file", until=entry.until.isoformat(), reason=entry.reason)
        return None


def _used(entries: Sequence[AcceptedChange], ratio: float) -> Sequence[AcceptedChange]:
    """Those of a term's entries that a ratio needs: the tightest one that covers it, or else all together.

    An entry without a limit accepts whatever comes.
    """
    limited = sorted((e for e in entries if e.at_most is not None), key=lambda e: e.at_most or 0.0)
    alone = next((e for e in limited if e.covers(e.term, e.metric, ratio)), None)
    if alone is not None:
        return [alone]
    together = math.prod(1.0 + (e.at_most or 0.0) for e in limited)
    return limited if max(ratio, 1.0 / ratio) <= together else []


def with_accepted(report: Report, accepted: Accepted) -> Report:
    """The report of a pull request with its accepted changes marked, and the verdict of what is left.

    Marks that it has are forgotten first, because a run of somebody else's may have made them up.
    """
    report = _unmarked(report)

    def marked(effects: Iterable[Effect]) -> tuple[Effect, ...]:
        return tuple(
            e.model_copy(update={"accepted": found}) if (found := accepted.of(report, e)) else e
            for e in effects
        )

    options = marked(report.suspects.options)
    if options == report.suspects.options and not accepted.labelled:
        return report
    alarmed = not accepted.labelled and (
        any(harmful(report, e) and e.accepted is None for e in options) or _unexplained(report)
    )
    verdict = report.verdict
    if not alarmed and verdict in ("regression", "mixed"):
        verdict = "improvement" if verdict == "mixed" else "none"
    return report.model_copy(
        update={
            "verdict": verdict,
            "effects": marked(report.effects),
            "suspects": report.suspects.model_copy(update={"options": options}),
        }
    )


def stale(entries: Sequence[AcceptedChange], space: Space, today: date) -> list[str]:
    """Of entries that no longer count, or never did: which, why, and what to do."""
    notes = []
    for place, entry in enumerate(entries):
        unknown = [level for level in entry.term if level not in space.level_of]
        if unknown:
            what = f"`{unknown[0]}` is no level of this program: correct or remove the entry"
            notes.append(f"{PATH}: accepted.{place}.term: {what}.")
        elif entry.until < today:
            what = f"`{term_text(entry.term)}` was accepted until {entry.until}"
            notes.append(f"{PATH}: accepted.{place}.until: {what}: remove the entry, or name a later day.")
    return notes


def _unmarked(report: Report) -> Report:
    """As it was before anything was accepted."""
    options = report.suspects.options
    verdict = report.verdict
    if verdict in ("none", "improvement") and any(harmful(report, e) and e.accepted for e in options):
        verdict = "mixed" if verdict == "improvement" else "regression"
    plain = [
        tuple(e.model_copy(update={"accepted": None}) for e in found) for found in (report.effects, options)
    ]
    return report.model_copy(
        update={
            "verdict": verdict,
            "effects": plain[0],
            "suspects": report.suspects.model_copy(update={"options": plain[1]}),
        }
    )


def harmful(report: Report, effect: Effect) -> bool:
    """Whether an effect alarms unless somebody accepted it."""
    return effect.significant and worse(report, effect)


def _unexplained(report: Report) -> bool:
    """Whether something got worse that no named effect is about: nobody can have accepted that."""
    named = {e.metric for e in report.suspects.options if harmful(report, e)}
    moved = {c.metric for c in report.configurations if c.state == "slower"} - {"instructions"}
    return bool(moved - named) or any("got worse beyond chance" in note for note in report.notes)
