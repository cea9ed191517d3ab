"""Which systems are searched: the rows of the table, each with its cells and targets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.change_points.hard_systems import HardSystem
from benchmarks.change_points.kinds import PublishedKind, SecondKind
from benchmarks.change_points.multiplied import Factors, MultipliedKind
from benchmarks.change_points.published_systems import Cell
from benchmarks.change_points.systems import HardCell
from benchmarks.change_points.truth import System
from benchmarks.change_points.uneven import Uneven, UnevenKind

COMMITS = (500, 1000, 2000)
STEPS = (1, 3, 10)
HARD_COMMITS = 1000


@dataclass(frozen=True)
class Case:
    """One kind of system."""

    row: str
    name: str
    make: Callable[[np.random.Generator], System]
    cell: Cell | None = None


@dataclass(frozen=True)
class Row:
    """A line of the table; wanted: F1, F1 of large steps, trials relative to the published algorithm's."""

    name: str
    f1: float | None = None
    large: float | None = None
    trials: float | None = None


ROWS = (
    Row("published kind, no noise, 8-64 options", f1=0.99, trials=1 / 100),
    Row("published kind, cov .01, 8-64 options", f1=0.95, trials=1 / 20),
    Row("published kind, cov .03, 8-32 options", f1=0.93, large=0.97, trials=1 / 10),
    Row("published kind, cov .03, 64 options", f1=0.90, trials=1 / 5),
    Row("hard kind, 16 options", large=0.85),
    Row("hard kind, 32 options", large=0.85),
    Row("hard kind, 64 options", large=0.85),
    Row("hard kind of the second generator, 32 options", large=0.85),
    Row("factors, noise .02, 10-40 options"),
    Row("uneven shares, noise .01, 10 options"),
    Row("100 options x 10,000 commits, cov .01", f1=0.90),
)
NULLS = (
    Row("published kind without a change, no noise"),
    Row("published kind without a change, cov .01"),
    Row("published kind without a change, cov .03"),
    Row("published kind without a change, cov .05"),
    Row("hard kind without a change, 16 options"),
    Row("hard kind without a change, 32 options"),
    Row("hard kind without a change, 64 options"),
    Row("factors without a change, uneven noise, 10 options"),
)


def _published(row: Row, *cells: Cell) -> list[Case]:
    return [Case(row.name, f"{c.size}, cov {c.cov}", partial(PublishedKind, c), c) for c in cells]


def _grid(cov: float, *options: int) -> list[Cell]:
    return [Cell(c, n, k, cov) for n in options for c in COMMITS for k in STEPS]


def _cases() -> list[Case]:
    clean, low, high, wide, *hard, second, factors, uneven, large = ROWS
    found = _published(clean, *_grid(0.0, 8, 16, 32, 64))
    found += _published(low, *_grid(0.01, 8, 16, 32, 64))
    found += _published(high, *_grid(0.03, 8, 16, 32))
    found += _published(wide, *_grid(0.03, 64))
    found += _published(large, *(Cell(10_000, 100, k, 0.01) for k in (3, 10)))
    sizes = (16, 32, 64)
    found += [
        Case(row.name, f"hard {n}", partial(HardSystem, n, HARD_COMMITS))
        for row, n in zip(hard, sizes, strict=True)
    ]
    cell = HardCell(HARD_COMMITS, 32, 6)
    found.append(Case(second.name, f"second {cell.name}", partial(SecondKind, cell)))
    cells = [Factors(10, 300, 4, 1.6), Factors(10, 300, 4, 20.0), Factors(40, 1000, 6, 1.6)]
    found += [Case(factors.name, f"factors {cell.name}", partial(MultipliedKind, cell)) for cell in cells]
    shares = Uneven(6, 700, 6)
    found.append(Case(uneven.name, f"uneven {shares.name}", partial(UnevenKind, shares)))
    *quiet, null16, null32, null64, restless = NULLS
    for row, cov in zip(quiet, (0.0, 0.01, 0.03, 0.05), strict=True):
        found += _published(row, *(Cell(1000, n, 0, cov) for n in sizes))
    for row, n in zip((null16, null32, null64), sizes, strict=True):
        found.append(Case(row.name, f"hard {n} null", partial(HardSystem, n, HARD_COMMITS, changing=False)))
    none = Factors(10, 300, 0, 1.6, uneven=True)
    found.append(Case(restless.name, f"factors {none.name} null", partial(MultipliedKind, none)))
    return found


CASES = tuple(_cases())
