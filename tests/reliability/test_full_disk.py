"""A disk without room: one line, nothing half-written, nothing that was stored is lost; with room a rerun."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nursery import Nursery
from tests.reliability.kills import FILES, MODES

SIZE = 512 << 10


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of half a MiB."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(path)]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk, and not everywhere")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


@pytest.mark.parametrize("room", [0, 4096])
@pytest.mark.parametrize("mode", ["pull request", "bisection", "night"])
def test_a_full_disk_is_one_line_and_room_lets_a_rerun_complete(
    nursery: Nursery, disk: Path, tmp_path: Path, mode: str, room: int
) -> None:
    with MODES[mode](disk / "ground") as ground:
        assert nursery.start(ground.words, ground.folder, ground.environ)["status"] == 0
        ground.done()
        ground.reset()
        log = tmp_path / "log"
        ballast, free = disk / "ballast", os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        ballast.write_bytes(b"x" * (free - room))
        ended = nursery.start(ground.words, ground.folder, ground.environ, out=str(log), err=str(log))
        assert ended["status"] in (2, 3)
        assert "No space left on device" in log.read_text("utf-8").splitlines()[-1]
        ground.always()
        assert not all((ground.folder / name).exists() for name in FILES.values())
        ballast.unlink()
        assert nursery.start(ground.words, ground.folder, ground.environ)["status"] == 0
        ground.done()
