"""Which options take most of the time, where a budget ended before every configuration was measured."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from bot.model.at_fault import fitting_terms
from bot.model.space import Configuration
from bot.model.trials import COSTLY
from bot.report.formats import seconds

MUCH = 5.0
"""Times the median of all configurations, from which on one counts as costly. Arbitrary."""
MOST = 0.7
"""Share of the time of one trial each that the costly ones must take. Arbitrary."""


def costly(base: Mapping[Configuration, float], names: Sequence[str]) -> tuple[str, ...]:
    """A note on configurations that leave no time for the others; nothing where none stand out.

    base: seconds of a trial, by configuration; names: of the options.
    """
    if not base:
        return ()
    bound = MUCH * statistics.median(base.values())
    dear = [configuration for configuration, cost in base.items() if cost >= bound]
    if not dear or sum(base[c] for c in dear) < MOST * sum(base.values()):
        return ()
    others = [configuration for configuration in base if configuration not in dear]
    named = [dict(zip(names, c, strict=True)) for c in dear]
    terms = fitting_terms(named, [dict(zip(names, c, strict=True)) for c in others])
    if terms:
        where = " with " + ", or with ".join(
            " and ".join(f"`{level}`" for level in map(str, term)) for term in terms
        )
    else:
        where = f" in {len(dear)} of {len(base)} configurations"
    costs = [base[c] for c in dear]
    least, most = seconds(min(costs)), seconds(max(costs))
    span = least if least == most else f"{least} to {most}"
    usual = seconds(statistics.median(base[c] for c in others))
    return (
        f"{COSTLY}: a trial takes {span}{where}, and {usual} in the median of the others. A smaller input "
        "for these, or a constraint that leaves them out, makes room for the rest.",
    )
