"""Observations and models of methods of which the behaviour is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from bot.model.assertions import CallObservation, NamedPath, PathGroup, PathModel, edges_of

FAST, SLOW = 1e-6, 2e-5


def path(names: str) -> NamedPath:
    """`a>b>f` as a path."""
    return tuple(names.split(">"))


def observations(
    behaviours: Mapping[str, tuple[int, float]], *, trials: int = 10, wander: float = 0.0, seed: int = 1
) -> list[CallObservation]:
    """Trials of a method. behaviours: calls in a trial and share of slow ones by path; wander: spread of the
    latter from trial to trial."""
    rng = np.random.default_rng(seed)
    found = []
    for trial in range(trials):
        durations = {}
        for names, (calls, share) in behaviours.items():
            slow = rng.random(calls) < np.clip(share + wander * rng.standard_normal(), 0, 1)
            durations[path(names)] = np.where(slow, SLOW, FAST) * rng.lognormal(0, 0.1, calls)
        found.append(CallObservation(10.0 * trial, 10.0 * trial + 9, durations))
    return found


def grouped(*groups: Mapping[str, int], vectors: Sequence[Sequence[float]] | None = None) -> PathModel:
    """A model of these groups, calls by path."""
    shares = vectors or [(1 - i / len(groups), i / len(groups)) for i in range(len(groups))]
    made = (
        PathGroup({path(k): n for k, n in g.items()}, tuple(v)) for g, v in zip(groups, shares, strict=True)
    )
    return PathModel("f", None, (0.5,), (1e-5,), tuple(made))


@st.composite
def models(draw: st.DrawFn) -> PathModel:
    """Small models over few names; paths of the same edges are in one group."""
    chains = draw(st.lists(st.permutations("abcd"), min_size=1, max_size=8))
    lengths = draw(st.lists(st.integers(0, 4), min_size=len(chains), max_size=len(chains)))
    labels = draw(st.lists(st.integers(0, 3), min_size=len(chains), max_size=len(chains)))
    by_edges = {}
    for chain, length, label in zip(chains, lengths, labels, strict=True):
        found = ("main", *chain[:length], "f")
        by_edges[edges_of(found)] = (found, label)
    groups: dict[int, dict[NamedPath, int]] = {}
    for found, label in by_edges.values():
        groups.setdefault(label, {})[found] = 100
    made = (PathGroup(paths, (label / 3, 1 - label / 3)) for label, paths in sorted(groups.items()))
    return PathModel("f", None, (0.5,), (1e-5,), tuple(made))
