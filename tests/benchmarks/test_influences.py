import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from benchmarks.influences.coverage import truth
from benchmarks.influences.programs import configurations, missing
from benchmarks.influences.recorded import columns
from benchmarks.influences.systems import generate
from benchmarks.influences.table import markdown
from tests.unit.analysis.influences.programs import SPACE


class _Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch evil",)


def test_nothing_in_a_recorded_file_can_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.pkl").write_bytes(pickle.dumps(_Evil()))
    with pytest.raises(pickle.UnpicklingError, match="no part of a table"):
        columns(tmp_path / "x.pkl")
    assert not (tmp_path / "evil").exists()


def test_a_generated_system_is_the_same_for_a_seed_and_measured_with_noise() -> None:
    systems = [generate(np.random.default_rng(3), methods=12) for _ in range(2)]
    asked = [systems[0].space.default]
    assert np.array_equal(systems[0].truth(asked)[1], systems[1].truth(asked)[1])
    measured = systems[0].measure(asked * 1, np.random.default_rng(4))
    calls, seconds = systems[0].truth(asked)
    called = calls[0] > 0
    assert np.isfinite(measured.means("seconds")[0]).all()
    assert measured.means("seconds")[0][called] == pytest.approx(seconds[0][called], rel=0.5)
    assert (measured.means("calls")[0][~called] == 0).all()


def test_the_true_influence_of_everything_is_the_mean_cost() -> None:
    system = generate(np.random.default_rng(5), methods=6)
    rng = np.random.default_rng(6)
    many = [
        tuple(o.values[int(rng.integers(len(o.values)))] for o in system.space.options) for _ in range(50)
    ]
    found = truth(system, (), many, rng)
    assert found is not None
    assert found == pytest.approx(system.truth(many)[1].mean(axis=0))


def test_a_method_without_a_model_counts_as_lost() -> None:
    case = {
        "source": "generated",
        "kind": "random",
        "seconds": [[0.5, 0.01, 0.01, "lasso", "learnt"], [None, 0.02, 0.01, "tree", "learnt"]],
        "calls": [[0.0, 0.0, 0.0, "constant", "learnt"]],
        "ours_cpu_seconds": 2.0,
        "published_cpu_seconds": 0.1,
    }
    text = markdown([case])
    assert "| random | 1 | 2 | 75 %, 0 % / 0 % | 1.5 %, 100 % / 100 % |" in text
    assert "| 100 % | 100 % |" in text


def test_half_of_a_sample_covers_pairs_of_values_and_the_probe_is_apart() -> None:
    found = configurations(SPACE, sample=30, probe=10, rng=np.random.default_rng(7))
    sample = {c for kind, c in found if kind == "sample"}
    assert len(sample) == 30
    assert len([c for kind, c in found if kind == "probe"]) == 10
    assert {(c[2], c[3]) for c in sample} == {
        (a, b) for a in SPACE.options[2].values for b in (1, 2, 4, 8, 16)
    }


def test_the_probe_is_repeated_first() -> None:
    a, b, c = ((flag, False, "none", 4, False) for flag in (False, True, False))
    c = (*c[:3], 8, False)
    wanted = [("sample", a), ("probe", b), ("sample", c)]
    assert missing(wanted, {}, 2) == [a, b, c, b, a, c]
    assert missing(wanted, {a: 1, b: 2, c: 1}, 2) == [a, c]
