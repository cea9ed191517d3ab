"""Many writers, kills at any moment, and full disks: what was said to be stored is there, whole."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.adapters.stores.layered import LayeredStore
from tests.adapters.stores.conftest import Ground
from tests.adapters.stores.samples import run

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(params=["directory", "branch", "object"])
def ground(request: pytest.FixtureRequest, tmp_path: Path, s3: Callable[[], str]) -> Ground:
    return Ground(request.param, tmp_path, s3)


def writing(
    ground: Ground,
    first: int,
    count: int,
    *,
    pairs: int = 1,
    limit: int | None = None,
    own: Path | None = None,
) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.adapters.stores.writer"]
    words += [ground.kind, ground.url or str(ground.path), str(first), str(count), str(pairs)]
    credentials = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    return subprocess.Popen(
        words,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "OWN": str(own or ground.path.parent), **credentials},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None,  # noqa: PLW1509
    )


def whole(store: LayeredStore) -> list[str]:
    """Names of all segments, none of which may be damaged."""
    found = store.verify()
    assert [segment.problem for segment in found if segment.problem] == []
    assert [note for note in store.notes() if found or "empty" not in note] == []
    return [segment.name for segment in found]


def keep_all(ground: Ground, writers: int, runs: int) -> None:
    processes = [writing(ground, 1000 * i, runs) for i in range(writers)]
    said = [name for process in processes for name in process.communicate()[0].split("\n") if name]
    assert all(process.returncode == 0 for process in processes)
    assert len(set(said)) == writers * runs
    assert sorted(said) == whole(ground.store())


def test_writers_at_the_same_time_lose_nothing(ground: Ground) -> None:
    keep_all(ground, 4, 6)


@pytest.mark.soak
def test_sixteen_writers_of_25_runs_keep_400_of_400(ground: Ground) -> None:
    keep_all(ground, 16, 25)


def kill(ground: Ground, seed: int) -> None:
    """One writer is killed at a random point; all it said is there, nothing is damaged, all goes on."""
    rng = random.Random(seed)
    before = set(whole(ground.store()))
    process = writing(ground, 1000 * (seed + 1), 900, pairs=rng.choice([1, 300]))
    assert process.stdout is not None
    said = [process.stdout.readline().strip() for _ in range(rng.randrange(4))]
    time.sleep(rng.uniform(0, 0.02 if ground.kind == "directory" else 0.2))
    process.send_signal(signal.SIGKILL)
    said += process.stdout.read().split()
    process.wait()
    process.stdout.close()
    found = set(whole(ground.store()))
    assert found >= before | set(said)
    number = 1000 * (seed + 1) + 999
    name = ground.store().append(run(number))
    assert name in whole(ground.store())


@pytest.mark.parametrize("seed", range(10))
def test_a_kill_loses_nothing_that_was_stored(ground: Ground, seed: int) -> None:
    kill(ground, seed)


@pytest.mark.soak
@pytest.mark.parametrize("batch", range(10))
def test_200_kills_lose_nothing_that_was_stored(ground: Ground, batch: int) -> None:
    """Twenty in each of ten places: all that is there is read again after each."""
    for seed in range(20 * batch, 20 * (batch + 1)):
        kill(ground, 100 + seed)


@contextmanager
def small_disk(path: Path) -> Iterator[int | None]:
    """A disk of 200 KiB, where we may mount one; else a limit on a file's size, which is returned."""
    path.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(path)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        yield 200 << 10
        return
    try:
        yield None
    finally:
        subprocess.run(["umount", str(path)], check=True)


def test_a_full_disk_is_one_line_and_spoils_nothing(tmp_path: Path, s3: Callable[[], str]) -> None:
    ground = Ground("directory", tmp_path, s3)
    with small_disk(ground.path) as limit:
        small = writing(ground, 0, 1).communicate()[0].split()
        large = writing(ground, 1, 2, pairs=30_000, limit=limit).communicate()[0].splitlines()
        assert len(large) == 2 and all(line.startswith("refused: history in ") for line in large)
        assert all("No space left" in line or "too large" in line for line in large)
        assert whole(ground.store()) == small
        assert [path.name for path in ground.path.iterdir()] == small
        again = writing(ground, 5, 1, limit=limit).communicate()[0].split()
        assert whole(ground.store()) == small + again


def test_a_full_disk_beside_a_branch_is_one_line_and_spoils_nothing(
    tmp_path: Path, s3: Callable[[], str]
) -> None:
    ground = Ground("branch", tmp_path, s3)
    small = writing(ground, 0, 1).communicate()[0].split()
    with small_disk(tmp_path / "own") as limit:
        large = writing(ground, 1, 2, pairs=30_000, limit=limit, own=tmp_path / "own")
        said = large.communicate()[0].splitlines()
        assert len(said) == 2 and all(line.startswith("refused: ") for line in said), said
        assert whole(ground.store()) == small
    again = writing(ground, 5, 1).communicate()[0].split()
    assert whole(ground.store()) == small + again


def test_what_a_killed_writer_left_is_swept_after_an_hour(tmp_path: Path, s3: Callable[[], str]) -> None:
    ground = Ground("directory", tmp_path, s3)
    ground.path.mkdir()
    old, young = ground.path / ".part-old", ground.path / ".part-young"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    ground.store().append(run())
    assert not old.exists() and young.exists()
    assert len(ground.store().segments()) == 1
