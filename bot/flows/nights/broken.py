"""What fails at the tip, and earlier revisions run: a commit since then broke it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bot.model.at_fault import fitting_terms
from bot.model.change_points import Observation
from bot.model.report import LEAST_FAILED_PAIRS
from bot.model.space import Configuration, Space
from bot.model.trials import TIP_FAILS

BY_ACCIDENT = 3.0
"""Times the usual share of trials have to fail where no options tell which do. Arbitrary."""


def broken_at_tip(
    space: Space,
    tonight: Sequence[Observation],
    earlier: Sequence[Observation],
    *,
    tip: int,
    partner: int | None,
) -> list[str]:
    """One note on what the tip broke; none where it fails so seldom that it may be chance.

    Known are configurations that ran at an earlier revision, tonight or in an earlier night; beside a tip
    that fails no trial has a value, so there earlier nights have to know, if not the very configuration then
    one with the options that all failures share. tip, partner: places of revisions.
    """
    trials: dict[Configuration, list[bool]] = defaultdict(list)
    for o in tonight:
        if o.built and tip in {o.probe.revision, partner}:
            trials[o.probe.configuration].append(o.value > 0 if o.probe.revision == tip else o.anchor > 0)
    failed = [c for c, worked in trials.items() if not any(worked)]
    ran = {o.probe.configuration for o in (*tonight, *earlier) if o.value > 0 and o.probe.revision < tip}
    terms = fitting_terms(
        [space.as_dict(c) for c in failed], [space.as_dict(c) for c in trials if c not in failed]
    )
    (term,) = terms if len(terms) == 1 else ((),)
    known = bool(term) and any(all(space.holds(level, c) for level in term) for c in ran)
    broken = [c for c in failed if known or c in ran]
    lost = sum(len(trials[c]) for c in broken)
    usual = (
        BY_ACCIDENT
        * sum(map(len, trials.values()))
        * _failing(
            o for o in (*tonight, *earlier) if o.probe.revision < tip and o.probe.configuration not in failed
        )
    )
    if lost < LEAST_FAILED_PAIRS or (not known and lost <= usual):
        return []
    count = f"{len(broken)} of {len(trials)} configurations"
    if not known:
        return [f"{TIP_FAILS} in {count}, which earlier revisions run."]
    who = " and ".join(f"`{level}`" for level in term)
    return [f"{TIP_FAILS} with {who}, which earlier revisions run: {count} that were tried."]


def _failing(observations: Iterable[Observation]) -> float:
    """Share of trials that failed."""
    failed = [not o.value > 0 for o in observations if o.built]
    return sum(failed) / max(len(failed), 1)
