"""Calibration kernels are compiled, counted and timed; what cannot be done is a note."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bot.adapters.resources import calibration
from bot.adapters.resources.calibration import KERNELS, SOURCE, timed_kernels


def test_each_kernel_causes_what_it_is_for(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"coin": 10, "lookup": 10, "areas": 5, "files": 3}
    monkeypatch.setattr(calibration, "KERNELS", few)
    runs, notes = timed_kernels(open_path, stop=lambda: False, seconds=300.0)
    assert notes == ()
    coin, lookup, areas, files = (counts for counts, _ in runs)
    assert coin["branch_misses"] == pytest.approx(10 * 50_000, rel=0.05)
    assert lookup["first_misses"] == pytest.approx(10 * 20_000, rel=0.05)
    assert lookup["last_misses"] < 1000
    assert areas["memory_calls"] == 2 * 5 * 100
    assert areas["page_faults"] == pytest.approx(4 * 5 * 100, rel=0.05)
    assert files["filesystem_calls"] == 3 * 50 * (4 + 6 * 5)
    assert all(seconds > 0.0 for _, seconds in runs)


def test_every_kernel_exists(open_path: Path) -> None:
    program = open_path / "kernels"
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", program, SOURCE], check=True)
    for name in KERNELS:
        done = subprocess.run([program, name, "1"], cwd=open_path, capture_output=True, text=True, check=True)
        assert len(done.stdout.split()) == 3
    assert subprocess.run([program, "other", "1"], cwd=open_path).returncode == 2


def test_no_time_and_a_signal_leave_kernels_out(open_path: Path) -> None:
    assert timed_kernels(open_path, stop=lambda: False, seconds=0.0)[0] == []
    runs, notes = timed_kernels(open_path, stop=lambda: True)
    assert runs == []
    assert notes == (f"Only 0 of {len(KERNELS)} calibration kernels could be run in time.",)


def test_without_a_compiler_there_are_no_runs(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "PATH", str(open_path))
    runs, notes = timed_kernels(open_path, stop=lambda: False)
    assert runs == ()
    assert notes == ("There is no compiler for calibration kernels: unit costs of events are typical ones.",)


def test_kernels_that_do_not_compile_are_a_note(open_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = open_path / "broken.c"
    broken.write_text("int main(void) { return")
    monkeypatch.setattr(calibration, "SOURCE", broken)
    runs, notes = timed_kernels(open_path, stop=lambda: False)
    assert runs == ()
    assert "could not be compiled" in notes[0]
