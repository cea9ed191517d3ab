"""Why a run without an alarm is not green: what seems worse and is not proven, or could not be seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bot.model.report import ConfigurationChange, Report
from bot.model.trials import noisy_table
from bot.report import claims, words
from bot.report.formats import Prose, code, count, prose
from bot.report.ranges.moves import holds

WIDER = 2.5
"""How far beyond its 90 % interval one configuration may lie by chance: of dozens, some do. Arbitrary."""
LEAST_PAIRS = 2
IDLE = "no trial opened its input, so the program may have done nothing"
REPAIR = prose("run the program by hand as ", code("suspects check"), " does, and repair ", code("run"), ".")
MOST_TOLD = 2


@dataclass(frozen=True)
class Doubt:
    """A headline's title, its sentences, and what more time is for."""

    title: Prose
    lead: tuple[Prose, ...]
    why: str


def doubt(report: Report) -> Doubt | None:
    """The first of the doubts about a run that found nothing; None: it may be green."""
    if claims.default_seems_worse(report):
        title = prose("Not clear: only the default configuration seems worse, which is not proven")
        return Doubt(title, (), "for a clear answer ")
    if found := odd(report):
        seem = " seems" if len(found) == 1 else " seem"
        title = prose("Not clear: ", count(len(found), "configuration"), seem, " worse, which is not proven")
        return Doubt(title, told(report), "for a clear answer ")
    if claims.saw_no_option(report):
        title = prose("No slow-down found, but there were too few pairs to see one on any option")
        return Doubt(title, _better(report), "to look at options ")
    return None


def odd(report: Report) -> list[ConfigurationChange]:
    """Configurations that are far worse by all of their own pairs, though no term of theirs is; worst first.

    Who alone of the sample holds the options of a slow-down looks so: nothing else speaks for it.
    """
    primary = [c for c in report.configurations if c.metric == report.primary_metric]
    accepted = [e.term for e in report.suspects.options if e.accepted]
    found = [c for c in primary if _odd(report, c) and not any(holds(term, c.options) for term in accepted)]
    return sorted(found, key=lambda c: -abs(math.log(c.ratio or 1.0)))


def _odd(report: Report, one: ConfigurationChange) -> bool:
    return far_off(report, one) and words.worse(report, one)


def far_off(report: Report, one: ConfigurationChange) -> bool:
    """Whether a configuration without a verdict moved far by all of its own pairs, in either direction."""
    least = 1 if noisy_table(report.notes) else LEAST_PAIRS  # whose noise other values tell
    if one.default or one.state != "unclear" or one.pairs < least or not one.interval or not one.ratio:
        return False
    low, high = (math.log(end) for end in one.interval)
    surely = abs(math.log(one.ratio)) - WIDER * (high - low) / 2.0
    return surely > math.log1p(claims.too_slow(report))


def _better(report: Report) -> tuple[Prose, ...]:
    """That configurations seem better, where too little was seen to name an option."""
    primary = [c for c in report.configurations if c.metric == report.primary_metric]
    found = [c for c in primary if far_off(report, c) and not words.worse(report, c)]
    if not found:
        return ()
    most = max(found, key=lambda c: abs(math.log(c.ratio or 1.0)))
    seem = "seems" if len(found) == 1 else "seem"
    several = count(len(found), "configuration")
    return (prose(f"{several} {seem} better, which is not proven: by up to ", words.amount(most), "."),)


def told(report: Report) -> tuple[Prose, ...]:
    """A sentence for each odd configuration, the worst first."""
    default = words.default_options(report)
    return tuple(
        prose("With ", words.configuration(c.options, default), ": ",
              words.amount(c, emphasised=True), f", of {count(c.pairs, 'pair')}.")
        for c in odd(report)[:MOST_TOLD]
    )  # fmt: skip
