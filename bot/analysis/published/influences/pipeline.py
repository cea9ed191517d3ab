"""The published pipeline as one estimator: coarse models, hard methods, fine models, influences."""

from __future__ import annotations

from typing import Self

import numpy as np

from bot.analysis.influences.costs import CostTable, Floats
from bot.analysis.published.influences.coarse import ALPHA_SECONDS, BETA, EPSILON, CoarseModels
from bot.analysis.published.influences.forests import ForestInfluences
from bot.model.report import Influence
from bot.model.space import Configuration, Term


class PublishedInfluences:
    """Performance-influence models in two steps (Weber, Apel and Siegmund, ICSE 2021, section IV).

    After `fit`, on what a coarse profiler saw: `coarse_`, `hard_methods_` (those to be profiled finely) and
    `forests_`. After `refine`, on what a fine profiler saw of these in the same configurations: `fine_`.
    """

    def __init__(
        self,
        *,
        rng: np.random.Generator,
        epsilon: float = EPSILON,
        alpha_seconds: float = ALPHA_SECONDS,
        beta: float = BETA,
    ) -> None:
        self.rng = rng
        self.epsilon = epsilon
        self.alpha_seconds = alpha_seconds
        self.beta = beta

    def fit(self, costs: CostTable, test: CostTable | None = None) -> Self:
        """First step: a tree for each method, the filter, and the random forests of section VI-B."""
        self.coarse_ = CoarseModels(
            rng=self.rng, epsilon=self.epsilon, alpha_seconds=self.alpha_seconds, beta=self.beta
        ).fit(costs, test)
        self.hard_methods_ = tuple(
            m for m, hard in zip(costs.methods, self.coarse_.hard_, strict=True) if hard
        )
        self.forests_ = ForestInfluences(rng=self.rng).fit(costs)
        probe = _summed(test)
        if probe is not None and not probe.configurations:
            probe = None  # cross-validated instead
        self.system_error_ = float(self._tree(_summed(costs), probe).errors_["seconds"][0])
        self.fine_: CoarseModels | None = None
        self._costs = costs
        self._fine_methods: tuple[str, ...] = ()
        return self

    def refine(self, costs: CostTable, test: CostTable | None = None) -> Self:
        """Second step: the hard methods learnt again from calls without the longest (`fine_costs`)."""
        self.fine_ = self._tree(costs, test)
        self._fine_methods = costs.methods
        return self

    def _tree(self, costs: CostTable | None, test: CostTable | None) -> CoarseModels:
        assert costs is not None
        return CoarseModels(rng=self.rng, epsilon=self.epsilon).fit(costs, test)

    def predict(self, configurations: tuple[Configuration, ...]) -> Floats:
        """Seconds, shape (n_configurations, n_methods), of a hard method by its fine model; NaN: no model."""
        found = self.coarse_.predict(configurations, "seconds")
        if self.fine_ is not None:
            again = self.fine_.predict(configurations, "seconds")
            for k, name in enumerate(self._fine_methods):
                if name in self._costs.methods:
                    found[:, self._costs.methods.index(name)] = again[:, k]
        return found

    def errors(self) -> dict[str, float]:
        """Mean absolute percentage error of each method's seconds, as a fraction, the fine model's if any."""
        found = dict(zip(self._costs.methods, self.coarse_.errors_["seconds"].tolist(), strict=True))
        if self.fine_ is not None:
            found.update(zip(self._fine_methods, self.fine_.errors_["seconds"].tolist(), strict=True))
        return found

    def entries(self) -> tuple[Influence, ...]:
        """The report's entries: of the system, and of the methods behind each option or interaction.

        Influences are sizes without a sign; the interval is that of the measurement error, all the paper has.
        An option with several levels is named by the one that differs most from the others.
        """
        forests, errors = self.forests_, self.errors()
        found = []
        for options, size in sorted(forests.system_.items(), key=lambda i: (-i[1], i[0])):
            term: Term = tuple(sorted(str(forests.telling_[option]) for option in options))
            share = size / (forests.mean_ or 1.0)
            found.append(_entry(None, term, size=size, share=share, error=self.system_error_, within=0.0))
            for cause in forests.root_causes(options):
                name = cause.method
                within = forests.measurement_errors_[name]
                found.append(
                    _entry(
                        name, term, size=cause.seconds, share=cause.share, error=errors[name], within=within
                    )
                )
        return tuple(found)


def _entry(
    method: str | None, term: Term, *, size: float, share: float, error: float, within: float
) -> Influence:
    return Influence(
        method=method,
        term=term,
        influence=size,
        interval=(size - within, size + within),
        share=share,
        error=error if np.isfinite(error) else 1.0,  # no model: nothing is predicted
        noise_floor=None,
    )


def _summed(costs: CostTable | None) -> CostTable | None:
    """The whole program as one method, in configurations in which all methods are known."""
    if costs is None:
        return None
    costs = costs.select(np.flatnonzero(np.isfinite(costs.means("seconds")).all(axis=1)))
    seconds = np.nansum(np.asarray(costs.quantities["seconds"], dtype=np.float64), axis=1, keepdims=True)
    ran = costs.ran["seconds"][:, None, :]
    return CostTable(
        costs.space, costs.configurations, ("program",), {"seconds": np.where(ran, seconds, np.nan)}
    )
