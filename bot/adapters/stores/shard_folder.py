"""A shard's folder: written whole, read as a stranger's; nothing in it is followed, run or believed."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from bot.adapters.github.artifacts import MEMBER, parse_report
from bot.adapters.stores import segments
from bot.adapters.stores.directory import write_whole
from bot.adapters.stores.rows import TRIALS
from bot.model.errors import ArtifactError, DamagedSegmentError, HistoryError
from bot.model.history import Columnar, Measurements
from bot.model.report import Report
from bot.model.shards import Manifest, Stored

MANIFEST = "shard.json"
MOST_ENTRIES = 64
"""Names in a shard's folder."""
MOST_FOLDERS = 1024
"""Shards' folders in a folder that is given to be merged."""
CAPS: Mapping[str, int] = {MANIFEST: 1 << 20, MEMBER: 32 << 20}
SEGMENT_BYTES = 256 << 20
MOST_ROWS = 1 << 23
"""Of one segment; a hundred times what an hour of measuring leaves."""
UNPACKED_BYTES = 1 << 30


@dataclass(frozen=True)
class ShardFolder:
    """A folder whose manifest and files are what was written: checked, but not yet decoded."""

    path: Path
    manifest: Manifest
    contents: Mapping[str, bytes]

    @property
    def segments(self) -> Sequence[str]:
        """Names of the segments, oldest first."""
        return sorted(name for name in self.contents if segments.kind(name))

    def report(self) -> Report:
        """The shard's own report.

        Raises:
            ArtifactError: there is none, or it is none of ours.
        """
        if MEMBER not in self.contents:
            raise ArtifactError(f"there is no {MEMBER}")
        return parse_report(self.contents[MEMBER])

    def trials(self) -> Iterator[Measurements]:
        """The trials of each of its runs.

        Raises:
            ArtifactError: a segment holds something else than its schema says, or too much.
        """
        for name in self.segments:
            if segments.kind(name) == TRIALS.kind:
                _bounded(name, self.contents[name])
                try:
                    parts = list(segments.decode(name, self.contents[name]))
                except HistoryError as error:
                    raise ArtifactError(str(error)) from error
                yield Measurements.concatenated(parts) if len(parts) != 1 else parts[0]


def cleared(folder: Path) -> Path:
    """The folder, made, without what an earlier run left in it; anything else there stays.

    Raises:
        OSError: it cannot be made or cleared.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in (MANIFEST, MEMBER, *(p.name for p in folder.iterdir() if segments.kind(p.name))):
        (folder / name).unlink(missing_ok=True)
    return folder


def write_shard(folder: Path, manifest: Manifest, *, report: Report, rows: Sequence[Columnar] = ()) -> None:
    """Fills a folder; the manifest comes last, and names what the folder holds, segments there included.

    Raises:
        OSError: it cannot be written.
    """
    contents = {MEMBER: (report.model_dump_json(indent=1) + "\n").encode()}
    contents |= dict(segments.encode(one) for one in rows)
    for path in sorted(folder.iterdir()):
        if segments.kind(path.name):
            contents[path.name] = path.read_bytes()
    for name, content in contents.items():
        write_whole(folder / name, content)
    files = tuple(_stored(name, content) for name, content in sorted(contents.items()))
    text = manifest.model_copy(update={"files": files}).model_dump_json(by_alias=True, indent=1)
    digest = hashlib.sha256(text.encode()).hexdigest()
    write_whole(folder / MANIFEST, f"{text}\n{digest}\n".encode())


def read_shard(folder: Path) -> ShardFolder:
    """A shard's folder, checked byte by byte; links, other kinds of files and names of our own are refused.

    Raises:
        ArtifactError: it is unfinished, damaged, or not what a shard leaves.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise ArtifactError(f"{_why(error)}") from error
    try:
        names = os.listdir(handle)  # noqa: PTH208  a path could mean another folder by now
        if MANIFEST not in names:
            raise ArtifactError(f"it is unfinished: there is no {MANIFEST}")
        if len(names) > MOST_ENTRIES:
            raise ArtifactError(f"it holds more than {MOST_ENTRIES} files")
        manifest = _manifest(_read(handle, MANIFEST, CAPS[MANIFEST]))
        contents = {one.name: _checked(handle, one) for one in manifest.files}
    finally:
        os.close(handle)
    return ShardFolder(folder, manifest, contents)


def shard_folders(given: Path) -> list[Path]:
    """The shards' folders that a path means: itself, or (what a download of several leaves) those in it."""
    if (given / MANIFEST).exists() or not given.is_dir():
        return [given]
    inner = sorted(path for path in given.iterdir() if path.is_symlink() or path.is_dir())
    return inner[:MOST_FOLDERS] or [given]


def _stored(name: str, content: bytes) -> Stored:
    return Stored(name=name, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def _manifest(content: bytes) -> Manifest:
    text, _, digest = content[:-1].rpartition(b"\n")
    if content[-1:] != b"\n" or hashlib.sha256(text).hexdigest().encode() != digest:
        raise ArtifactError(f"{MANIFEST} is damaged")
    try:
        manifest = Manifest.model_validate_json(text, strict=True)
    except ValidationError as error:
        kind = error.errors(include_url=False, include_input=False, include_context=False)[0]["type"]
        raise ArtifactError(f"{MANIFEST} is not one of ours ({kind})") from None
    if not manifest.shard.consistent:
        raise ArtifactError(f"{MANIFEST} tells of a shard that no plan has")
    return manifest


def _checked(handle: int, stored: Stored) -> bytes:
    if stored.name != MEMBER and not segments.kind(stored.name):
        raise ArtifactError(f"{MANIFEST} names a file that no shard leaves")
    most = CAPS.get(stored.name, SEGMENT_BYTES)
    content = _read(handle, stored.name, min(most, stored.bytes))
    if hashlib.sha256(content).hexdigest() != stored.sha256:
        raise ArtifactError(f"{stored.name} is damaged: its {len(content)} bytes are not what was written")
    if segments.kind(stored.name):
        try:
            segments.check(stored.name, content)
        except DamagedSegmentError as error:
            raise ArtifactError(str(error)) from error
    return content


def _read(folder: int, name: str, most: int) -> bytes:
    """A regular file of a folder that is open; at most so many bytes."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        raise ArtifactError(f"{name}: {_why(error)}") from error
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ArtifactError(f"{name} is no regular file")
        content = file.read(most + 1)
    if len(content) > most:
        raise ArtifactError(f"{name} is larger than {most} bytes")
    return content


def _bounded(name: str, content: bytes) -> None:
    """Refuses what would unpack to more than any run leaves; a lie about it fails while it is decoded."""
    try:
        told = pq.ParquetFile(pa.BufferReader(content)).metadata
        rows = told.num_rows
        unpacked = sum(told.row_group(i).total_byte_size for i in range(told.num_row_groups))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ArtifactError(f"{name} is not a Parquet file") from error
    if rows > MOST_ROWS or unpacked > UNPACKED_BYTES:
        raise ArtifactError(f"{name} has {rows} rows in {unpacked} bytes: more than any shard leaves")


def _why(error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return "it is a link, or no folder"
    return error.strerror or str(error)
