"""Influences as the report has them, and notes on what could not be learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.analysis.influences.costs import Quantity
from bot.analysis.influences.explaining import TermInfluence
from bot.analysis.influences.learning import InfluenceModels, Learnt
from bot.analysis.influences.remembered import REST
from bot.model.report import Influence

MOST = 1000
"""Entries of a report; the system's and those of the costliest methods are kept."""
NAMED = 5
"""Methods named in a note; more are counted."""
HOPELESS = 10.0
"""Relative error from which on its size tells nothing."""


def entries(found: Sequence[TermInfluence], quantity: Quantity) -> tuple[Influence, ...]:
    """Entries of the report: mean costs, and influences whose interval leaves zero out."""
    kept = [i for i in found if not i.term or i.sure]
    return tuple(
        Influence(
            method=i.method,
            term=i.term,
            influence=i.influence,
            interval=i.interval,
            share=i.share,
            error=i.error,
            noise_floor=i.noise_floor if math.isfinite(i.noise_floor) else None,
            quantity=quantity,
            curve=i.curve,
        )
        for i in kept[:MOST]
    )


def notes(models: InfluenceModels) -> tuple[str, ...]:
    """Sentences on how the models were judged, and on costly methods that were not learnt."""
    models_ = models.models_[models.quantity_]
    full = [m for m in models_ if m.effort == "full" and m.method != REST]
    learnt = [m for m in full if m.state == "learnt"]
    said = [
        f"Influence models: {len(learnt)} of {len(full)} methods that cost something and vary with the "
        f"options were learnt from {len(models.sample_.configurations)} configurations; errors are those on "
        f"{len(models.probe_.configurations)} held-out random ones."
    ]
    missing = [m for m in (models.system_, *full) if m.state != "learnt"]
    if missing:
        names = ", ".join(map(_missing, missing[:NAMED]))
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        said.append(f"Not learnt, so nothing is said of what drives their {models.quantity_}: {names}{more}.")
    return tuple(said)


def _missing(learnt: Learnt) -> str:
    name = "the whole program" if learnt.method is None else f"`{learnt.method}`"
    if learnt.state == "too rare":
        return f"{name} (seen too rarely)"
    floor = f", noise {100 * learnt.noise_floor:.1f} %" if math.isfinite(learnt.noise_floor) else ""
    error = f"{100 * learnt.error:.0f} %" if learnt.error < HOPELESS else f"over {100 * HOPELESS:.0f} %"
    return f"{name} (error {error}{floor})"
