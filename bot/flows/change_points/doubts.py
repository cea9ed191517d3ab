"""Which answers of a contrast are asked for once more before anything is named by them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bot.analysis.change_points.noise import ODD
from bot.analysis.change_points.steps import Step, StepModel
from bot.model.change_points import Probe


def doubtful(model: StepModel, step: Step, contrast: Sequence[Probe], reach: float) -> list[Probe]:
    """Trials of configurations that did neither what the step lets expect nor nothing: bad luck, mostly.

    reach: revisions around the step in which nothing else moved. Trials that repeat their value are not asked
    again.
    """
    if model.exact or model.log.frozen:
        return []
    moments, informations = model.beside(step, reach)
    again = []
    for probe in contrast:
        row = model.log.place.get(probe.configuration)
        information = 0.0 if row is None else float(informations[row, 0])
        if information > 0.0:
            move = float(moments[row, 0]) / information
            if min(abs(move), abs(move - step.size)) * math.sqrt(information) > ODD:
                again.append(probe)
    return again
