"""Without noise: the fewest levels of a configuration that shows a step without which it does not."""

from __future__ import annotations

from bot.analysis.change_points.steps import Step
from bot.analysis.change_points.terms import Term, in_order
from bot.flows.change_points.asking import Asker, Asking
from bot.model.space import Configuration, Level

MOST_LEVELS = 16
"""A term with more levels is not looked for."""


class Witnessing(Asker):
    """Names the term of a step by halving what tells two configurations apart (Zeller's delta debugging)."""

    def suffices(self, step: Step) -> Asking[bool]:
        """Whether a step's term alone, with little else on, shows it."""
        alone = self.choose.near(step.term, self.choose.sparse)
        return alone is None or (yield from self._shows(step, alone)) is not False

    def term_of(self, step: Step) -> Asking[Term | None]:
        """The levels of a step's term, each shown to be necessary; None: it could not be told."""
        witness = yield from self._witness(step)
        if witness is None:
            return None
        other = self.choose.opposite(witness)
        needed: list[Level] = []
        for _ in range(MOST_LEVELS):
            start = self.choose.near(needed, other)
            if start is None:
                return None
            shown = yield from self._shows(step, start)
            if shown is None:
                return None
            if shown:
                return in_order(needed)
            level = yield from self._decisive(step, start, witness, needed)
            if level is None or level in needed:
                return None
            needed.append(level)
        return None

    def _decisive(
        self, step: Step, start: Configuration, witness: Configuration, needed: list[Level]
    ) -> Asking[Level | None]:
        """The level of the witness with which a prefix of what differs begins to show the step."""
        differing = [i for i, (a, b) in enumerate(zip(start, witness, strict=True)) if a != b]
        silent, showing = 0, len(differing)
        while showing - silent > 1:
            middle = (silent + showing) // 2
            mixed = list(start)
            for i in differing[:middle]:
                mixed[i] = witness[i]
            tried = self.choose.near(needed, tuple(mixed))
            shown = None if tried is None else (yield from self._shows(step, tried))
            if shown is None:
                return None
            silent, showing = (silent, middle) if shown else (middle, showing)
        if not differing:
            return None
        place = differing[showing - 1]
        return self.choose.level_at(place, witness, start)

    def _witness(self, step: Step) -> Asking[Configuration | None]:
        """A configuration that shows the step, with as few options on as any measured one."""
        means = self.log.means()
        for k in sorted((int(k) for k in self.model.cover(step).nonzero()[0]), key=lambda k: means[k]):
            configuration = self.log.configurations[k]
            if means[k] > 0 and (yield from self._shows(step, configuration)):
                before, after = self._around(step, configuration)
                assert before is not None and after is not None
                # Between its own values the step may be anywhere: others are asked over all of that.
                step.low, step.high = before + 1, after
                return configuration
        return None

    def _around(self, step: Step, configuration: Configuration) -> tuple[int | None, int | None]:
        """The nearest revisions before and after a step where a configuration works."""
        return self.beside(configuration, step.low - 1, -1), self.beside(configuration, step.high, 1)

    def _shows(self, step: Step, configuration: Configuration) -> Asking[bool | None]:
        """Whether a configuration moves at a step as the step's size says; None: no trial works there."""
        before, after = self._around(step, configuration)
        if before is None or after is None:
            return None
        wished = self.unknown(configuration, (before, after))
        if wished:
            yield wished
        values = [self.log.value(configuration, revision) for revision in (before, after)]
        if values[0] is None or values[1] is None:
            return (yield from self._shows(step, configuration)) if wished else None
        held = self.log.holding(configuration)[None, :]
        others = sum(
            other.size
            for other in self.model.steps
            if other is not step
            and before < other.at <= after
            and self.model.terms.cover(other.term, held)[0]
        )
        moved = values[1] - values[0] - others
        return abs(moved - step.size) < 0.5 * abs(step.size)
