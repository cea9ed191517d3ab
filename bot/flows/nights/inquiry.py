"""How a night asks about a step: its window has trials at both ends, and few in between."""

from __future__ import annotations

from bot.analysis.change_points.steps import Step
from bot.flows.change_points.asking import Asking
from bot.flows.change_points.inquiry import Inquiry


class NightInquiry(Inquiry):
    """Names a step that is not placed yet by all trials: tonight's lie at the two ends of the window."""

    def leader(self) -> Step | None:
        """The step that stands out most, after the first revision that works."""
        step = super().leader()
        if step is not None:
            step.low = max(step.low, int(self._log.columns()[1].min()) + 1)
        return step

    def _name(self, step: Step, reach: float) -> Asking[bool]:
        return super()._name(step, float(self._revisions) if step.high > step.low else reach)

    def _heard(self, reach: float) -> float:
        return max(reach, float(self._revisions))

    def _may_drift(self) -> bool:
        """Beside the tip nothing is the machine's: what lies over several commits is theirs, and is told."""
        return super()._may_drift() and not self._log.paired

    def overlooked(self) -> Step | None:
        """What stands out beyond doubt beside the steps, also where questions were in vain; None: nothing."""
        self._model.fit()
        found = self._best(None, everywhere=True)
        if found is None or found[1] < self._proven:
            return None
        self._model.steps.append(found[0])
        self._model.fit()
        self._model.steps.remove(found[0])
        return found[0]
