"""Heads with known causes: what is drawn is what is planted, and grows as told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from benchmarks.resources.heads import EVENTS, GROWTH, draw
from benchmarks.resources.subjects import Subject
from bot.analysis.resources.unit_costs import PRIOR
from bot.model.resources import FEATURE_OF, Count

OWN: Mapping[Count, float] = {"instructions": 2e8, "page_faults": 900.0, "filesystem_calls": 150.0}


@dataclass
class Known:
    """A yard that has counted already."""

    def own(self, _subject: Subject) -> Mapping[Count, float]:
        return OWN


def cost(kind: str, units: int) -> float:
    return units * sum(PRIOR[count] * n for count, n in EVENTS["c"][kind].items())


@pytest.mark.parametrize("causes", [1, 2])
@pytest.mark.parametrize("program", ["xz", "mixed"])
def test_the_causes_alone_grow_by_what_is_told_and_dearly_enough(program: str, causes: int) -> None:
    for seed in range(40):
        head = draw(Known(), np.random.default_rng(seed), causes=causes, programs=(program,))  # type: ignore[arg-type]
        less, more = (head.head, head.base) if head.faster else (head.base, head.head)
        assert {kind for kind in more if more[kind] != less.get(kind, 0)} == set(head.causes)
        grown = [cost(kind, more[kind] - less[kind]) for kind in head.causes]
        assert max(grown) <= 3.01 * min(grown)
        for kind, growth, seconds in zip(head.causes, head.growth, grown, strict=True):
            there = sum(PRIOR[count] * n for count, n in OWN.items() if FEATURE_OF[count] == kind)
            assert GROWTH[0] <= growth <= GROWTH[1]
            if kind != "memory":  # whose buffer is filled, too
                assert seconds == pytest.approx(growth * (there + cost(kind, less[kind])), rel=0.05)


def test_every_planted_kind_is_a_feature_and_its_events_are_that_features() -> None:
    for kinds in EVENTS.values():
        for kind, events in kinds.items():
            assert {FEATURE_OF[count] for count in events} == {kind}
