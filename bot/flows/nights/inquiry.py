"""How a night asks about a step: its window has trials at both ends, and few in between."""

from __future__ import annotations

from bot.analysis.change_points.steps import Step, StepModel
from bot.flows.change_points.asking import Asking
from bot.flows.change_points.inquiry import Inquiry
from bot.flows.change_points.placing import CONFIRMED, ELSEWHERE, Placing
from bot.model.space import Configuration
from bot.sampling.contrast import Configurator


class NightPlacing(Placing):
    """Confirms what no other configuration can at further revisions, where trials repeat their value."""

    def _confirm_elsewhere(self, step: Step, where: Configuration) -> Asking[bool]:
        start = len(self.log)
        shown = yield from super()._confirm_elsewhere(step, where)
        if shown or len(self.log) > start:
            return shown
        yield from self.around(step, where, ELSEWHERE // 2)
        if self._differs(step, where, start) <= CONFIRMED:
            return False
        step.confirmed = (step.term, step.at)
        return True


class NightInquiry(Inquiry):
    """Names a step that is not placed yet by all trials: tonight's lie at the two ends of the window."""

    def __init__(self, model: StepModel, configurator: Configurator, revisions: int) -> None:
        super().__init__(model, configurator, revisions)
        self._ask = NightPlacing(model, configurator, revisions)

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
