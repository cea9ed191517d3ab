"""The programs in which regressions are induced build, run, and need what they say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.resources.induced import KINDS, build, run


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build(tmp_path_factory.mktemp("programs"))


def test_every_program_has_parameters(built: dict[str, Path]) -> None:
    assert set(built) == set(KINDS) and len(KINDS) >= 10


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_program_runs_at_each_parameter(built: dict[str, Path], name: str) -> None:
    for parameter in KINDS[name].parameters:
        run(built[name], 1, min(parameter, 2048))


def test_pages_are_faults_and_nothing_else_has_them(built: dict[str, Path]) -> None:
    without, many = (run(built["pages"], 50, parameter).faults for parameter in (0, 100))
    assert many - without > 4_900
    assert run(built["calls"], 50, 500).faults - without < 100


def test_wrong_arguments_are_refused(built: dict[str, Path]) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run(built["pages"], 0, 1)
