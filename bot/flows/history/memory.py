"""Which terms drive a few methods, as the profiles of earlier nights show, in a few seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bot.flows.history.experience import Memory
from bot.model.errors import HistoryError
from bot.model.profiles import Method
from bot.model.space import Term
from bot.model.subject import Subject

# Learning loads scikit-learn: half a second of every start, for the runs that have a history of profiles.
if TYPE_CHECKING:
    from bot.analysis.influences.explaining import TermInfluence
    from bot.analysis.influences.remembered import Past


def recall_terms(
    memory: Memory | None, subject: Subject, methods: Sequence[Method], rng: np.random.Generator
) -> Mapping[Method, tuple[Term, ...]]:
    """The terms that drive each of these methods, the strongest first: its time, else how often it is called.

    A method is left out when no term is known to drive it: history has no profiles, or too few, the method
    is in none of them, or its model was not good enough to be believed. Whatever is wrong with the history
    is the same as no history.
    """
    if memory is None or not methods:
        return {}
    from bot.analysis.influences.driving import driving_terms
    from bot.analysis.influences.remembered import remembered
    from bot.flows.influences.known_costs import profiles_of
    from bot.flows.influences.profiles import FEWEST

    names = {method.name for method in methods}
    try:
        past = remembered(subject.space, profiles_of(memory.store, subject), only=names)
    except HistoryError:
        return {}
    if past is None or len(past.drawn) < FEWEST or not names & set(past.costs.methods):
        return {}
    terms: dict[Method, tuple[Term, ...]] = {}
    for part in (past.exact(), past.of("calls")):
        unknown = [method for method in methods if method not in terms]
        if unknown and part.costs.quantities:
            found = _learnt(part, subject, rng)
            terms |= {m: driving for m in unknown if (driving := driving_terms(found, m.name))}
    return terms


def _learnt(past: Past, subject: Subject, rng: np.random.Generator) -> tuple[TermInfluence, ...]:
    import joblib

    from bot.analysis.influences.learning import InfluenceModels
    from bot.flows.influences.learning import QUICK, explained

    models = InfluenceModels(rng=rng, most=len(past.costs.methods), kinds=QUICK)
    # A few small models: starting workers would take longer than learning.
    with joblib.parallel_config(backend="sequential"):
        return explained(models.fit(*past.split(rng)), subject, rng)
