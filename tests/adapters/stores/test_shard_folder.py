"""A shard's folder: what was written is read, and whatever else somebody makes of it is refused."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bot.adapters.stores import segments, shard_folder
from bot.adapters.stores.shard_folder import MANIFEST, cleared, read_shard, shard_folders
from bot.compose.sharding import read_folders
from bot.model.errors import ArtifactError
from tests.shards import folder, measured, shards

SHARD = shards(2)[1]
FOUND = measured(SHARD)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    return folder(tmp_path / "shards" / "one", SHARD, FOUND)


def segment(left: Path) -> Path:
    (found,) = left.glob("*.parquet")
    return found


def resealed(left: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes the manifest as somebody would who knows how its seal is made."""
    text = (left / MANIFEST).read_text("utf-8").rpartition("\n")[0].rpartition("\n")[0]
    content = json.loads(text)
    change(content)
    text = json.dumps(content)
    seal = hashlib.sha256(text.encode()).hexdigest()
    (left / MANIFEST).write_text(f"{text}\n{seal}\n", "utf-8")


def replaced(left: Path, name: str, content: bytes) -> None:
    """Another file under a name of its own, with a manifest that knows it."""
    old = segment(left)
    old.unlink()
    (left / name).write_bytes(content)

    def change(manifest: dict[str, Any]) -> None:
        (entry,) = [one for one in manifest["files"] if one["name"] == old.name]
        entry |= {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    resealed(left, change)


def refusal(left: Path) -> str:
    """Why it is refused, in one line; nothing else may be raised."""
    try:
        found = read_shard(left)
        found.report()
        for _ in found.trials():
            pass
    except ArtifactError as error:
        text = str(error)
        assert "\n" not in text and len(text) < 400
        return text
    raise AssertionError("it was read")


def test_what_is_written_is_read(left: Path) -> None:
    found = read_shard(left)
    assert found.manifest.shard == SHARD
    assert found.report() == FOUND.report
    (trials,) = found.trials()
    assert FOUND.trials is not None
    assert len(trials) == len(FOUND.trials)
    assert np.array_equal(trials.value, FOUND.trials.value, equal_nan=True)


def test_a_run_that_was_killed_leaves_nothing_that_looks_finished(left: Path) -> None:
    cleared(left)
    assert not list(left.iterdir())
    assert "unfinished" in refusal(left)


def test_any_flipped_bit_is_noticed(left: Path) -> None:
    rng = np.random.default_rng(5)
    for path in sorted(left.iterdir()):
        content = bytearray(path.read_bytes())
        for place in rng.integers(0, len(content), 12):
            flipped = bytearray(content)
            flipped[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(flipped)
            assert refusal(left)
        path.write_bytes(content)
    assert read_shard(left).report() == FOUND.report


def test_any_truncated_file_is_noticed(left: Path) -> None:
    for path in sorted(left.iterdir()):
        content = path.read_bytes()
        for length in (0, 1, len(content) // 2, len(content) - 1):
            path.write_bytes(content[:length])
            assert refusal(left)
        path.write_bytes(content)


def test_missing_files_and_folders_are_told(left: Path, tmp_path: Path) -> None:
    segment(left).unlink()
    assert "No such file" in refusal(left)
    assert "No such file" in refusal(tmp_path / "nowhere")
    found, refused = read_folders([tmp_path / "nowhere"])
    assert not found and "nowhere was left out" in refused[0]


@pytest.mark.parametrize("name", ["report.json", MANIFEST, "segment"])
def test_a_link_is_never_followed(left: Path, tmp_path: Path, name: str) -> None:
    path = segment(left) if name == "segment" else left / name
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert "link" in refusal(left)


def test_a_folder_that_is_a_link_is_refused(left: Path) -> None:
    link = left.parent / "zero"
    link.symlink_to(left)
    found, refused = read_folders([left.parent])
    assert len(found) == 1
    assert refused == ["The folder zero was left out: it is a link, or no folder."]


def test_a_pipe_does_not_make_us_wait(left: Path) -> None:
    path = left / "report.json"
    path.unlink()
    os.mkfifo(path)
    assert "no regular file" in refusal(left)


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "a/b.parquet", "shard.json", "report.json\0", "x.parquet", ""]
)
def test_a_manifest_names_only_what_a_shard_leaves(left: Path, name: str) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["files"][0]["name"] = name

    resealed(left, change)
    assert "names a file that no shard leaves" in refusal(left)


@pytest.mark.parametrize(
    "change",
    [
        {"shard": 0},
        {"shards": 9},
        {"plan": "f" * 16},
        {"head": "f" * 40},
        {"seed": 1},
        {"budget": 1e9},
        {"budget": "NaN"},
        {"shard": -1},
        {"extra": 1},
        {"mode": "anything"},
    ],
)
def test_a_shard_that_no_plan_has_is_refused(left: Path, change: dict[str, Any]) -> None:
    resealed(left, lambda manifest: manifest["shard"].update(change))
    assert MANIFEST in refusal(left)


def test_a_file_larger_than_it_says_is_not_read_to_its_end(left: Path) -> None:
    with (left / "report.json").open("ab") as file:
        file.truncate(1 << 33)  # a hole: it takes no room on the disk
    assert "larger than" in refusal(left)


def test_more_files_than_a_shard_leaves_are_refused(left: Path) -> None:
    for number in range(shard_folder.MOST_ENTRIES):
        (left / f"{number}").touch()
    assert "more than" in refusal(left)


def test_other_files_are_left_alone(left: Path) -> None:
    (left / ".DS_Store").write_bytes(b"\0")
    (left / "inner").mkdir()
    assert read_shard(left).segments


def named(content: bytes) -> str:
    return f"20240101T000000Z-trials-{segments.digest(content)}.parquet"


def test_rubbish_under_the_right_name_is_refused(left: Path) -> None:
    for content in (b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", os.urandom(2000)):
        replaced(left, named(content), content)
        assert "Parquet" in refusal(left)


def test_a_table_of_something_else_is_refused(left: Path) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": [1, 2]}), sink)
    content = sink.getvalue().to_pybytes()
    replaced(left, named(content), content)
    assert "is not a Parquet file of trials" in refusal(left)


def test_a_bomb_is_refused_before_it_is_unpacked(left: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = pa.BufferOutputStream()
    metadata = pq.ParquetFile(segment(left)).schema_arrow.metadata
    zeros = pa.table({"value": np.zeros(20_000_000)}).replace_schema_metadata(metadata)
    pq.write_table(zeros, sink, compression="zstd")
    content = sink.getvalue().to_pybytes()
    assert len(content) < 100_000
    decoded = []
    monkeypatch.setattr(segments, "decode", lambda *_: decoded.append(1))
    replaced(left, named(content), content)
    assert "more than any shard leaves" in refusal(left)
    assert not decoded


def test_a_name_that_is_not_its_contents_is_refused(left: Path) -> None:
    content = segment(left).read_bytes()
    replaced(left, f"20240101T000000Z-trials-{'0' * 32}.parquet", content)
    assert "damaged" in refusal(left)


def test_a_report_that_is_none_is_refused(left: Path) -> None:
    content = b'{"version": 1}'
    (left / "report.json").write_bytes(content)

    def change(manifest: dict[str, Any]) -> None:
        (entry,) = [one for one in manifest["files"] if one["name"] == "report.json"]
        entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    resealed(left, change)
    assert "report.json is not a report" in refusal(left)


def test_a_folder_of_folders_means_all_of_them(left: Path) -> None:
    folder(left.parent / "two", shards(2)[0])
    assert [path.name for path in shard_folders(left.parent)] == ["one", "two"]
    assert shard_folders(left) == [left]
    found, refused = read_folders([left.parent, left])
    assert sorted(one.shard.shard for one in found) == [0, 1] and not refused


def test_a_failed_write_leaves_no_manifest(tmp_path: Path) -> None:
    shard = replace(FOUND, trials=None)
    path = folder(tmp_path / "x", SHARD, shard)
    assert {p.name for p in path.iterdir()} == {MANIFEST, "report.json"}
    assert not list(read_shard(path).trials())
