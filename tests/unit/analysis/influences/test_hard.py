"""Which methods are worth a fine profile."""

from __future__ import annotations

import numpy as np
import pytest

from bot.analysis.influences.costs import CostTable
from bot.analysis.influences.hard import hard_methods
from bot.analysis.influences.learning import InfluenceModels
from bot.analysis.published.influences import coarse
from tests.unit.analysis.influences.programs import Program, drawn, measured


@pytest.fixture(scope="module")
def tables() -> tuple[CostTable, CostTable]:
    """A sample and a probe: `erratic` follows no option, `tiny` neither, but costs nothing."""
    rng = np.random.default_rng(4)
    configurations = drawn(110, rng)
    mood = {tuple(c): float(np.exp(rng.normal(0, 1.0))) for c in configurations}
    program: Program = {
        "erratic": {"seconds": lambda c: 0.5 * mood[tuple(c.values())]},
        "tiny": {"seconds": lambda c: 1e-5 * mood[tuple(c.values())]},
        "plain": {"seconds": lambda c: 2.0 if c["compress"] else 1.0},
        "start": {"seconds": lambda _: 0.3},
    }
    sample, probe = (
        measured(part, program, noise=0.005, rng=rng) for part in (configurations[:70], configurations[70:])
    )
    return sample, probe


def test_what_matters_and_no_model_fits_is_hard(tables: tuple[CostTable, CostTable]) -> None:
    models = InfluenceModels(rng=np.random.default_rng(1), kinds=("constant", "few terms")).fit(*tables)
    assert hard_methods(models) == ("erratic",)


def test_the_published_filter_alone_agrees_with_the_models_it_is_part_of(
    tables: tuple[CostTable, CostTable],
) -> None:
    found = coarse.hard_methods(*tables, rng=np.random.default_rng(1))
    models = coarse.CoarseModels(rng=np.random.default_rng(1)).fit(*tables)
    assert found == ("erratic",) == tuple(np.array(tables[0].methods)[models.hard_])


def test_where_nothing_matters_the_published_filter_learns_nothing() -> None:
    rng = np.random.default_rng(2)
    table = measured(drawn(20, rng), {"tiny": {"seconds": lambda _: 1e-5}}, rng=rng)
    assert coarse.hard_methods(table, rng=rng) == ()
