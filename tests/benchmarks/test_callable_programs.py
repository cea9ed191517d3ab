"""Simulated programs whose pull requests are judged: what is drawn is what is measured."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.decision.callable_programs import KINDS, Kind, System, system

Seconds = Callable[[int, NDArray[np.int64]], NDArray[np.float64]]


def loaded(made: System, folder: Path) -> Seconds:
    made.write(folder)
    spec = importlib.util.spec_from_file_location("program", folder / "program.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seconds: Seconds = module.seconds
    return seconds


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_a_program_changes_in_its_terms_and_nowhere_else(kind: Kind, tmp_path: Path) -> None:
    made = system(kind, 3)
    seconds = loaded(made, tmp_path)
    drawn = np.random.default_rng(1).integers(0, 2, size=(60, made.options))
    medians = [np.median([seconds(revision, drawn) for _ in range(80)], axis=0) for revision in (0, 1)]
    ratio = medians[1] / medians[0] - 1.0
    changed = np.zeros(len(drawn), dtype=bool)
    for term in made.changes:
        changed |= np.all([drawn[:, int(t.strip("!o"))] == (t[0] != "!") for t in term], axis=0)
    works = np.isfinite(ratio)
    assert works.mean() > 0.4
    assert np.median(np.abs(ratio[works & ~changed])) < 0.02 if (works & ~changed).any() else True
    if (works & changed).any():
        assert np.median(np.abs(ratio[works & changed])) > 0.008


def test_the_same_seed_draws_the_same_program() -> None:
    assert system(KINDS[0], 5) == system(KINDS[0], 5)
    assert system(KINDS[0], 5) != system(KINDS[0], 6)
