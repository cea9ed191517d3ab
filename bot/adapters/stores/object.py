"""History in an object store (S3, Google Cloud Storage) through pyarrow's file systems."""

# An object appears when its upload is complete, and a segment's name is made of its content: nothing is ever
# overwritten by something else, and no lock is needed.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import pyarrow as pa
import pyarrow.fs as pafs

from bot.adapters.stores import segments
from bot.adapters.stores.cache import Cache
from bot.model.errors import HistoryError

_PATIENCE = {scheme: {"retry_limit_seconds": "5"} for scheme in ("gs", "gcs")}
"""Google's library would insist for 15 minutes, and does several times what it is told."""


class ObjectPlace:
    """All segments directly below one address, such as `s3://bucket/history?region=eu-central-1`.

    Credentials come from where the provider's own tools have them (environment, profile, workload identity).
    """

    kind = "object"
    writable = True

    def __init__(self, url: str, *, cache: Cache) -> None:
        split = urlsplit(url)
        self.label = f"object store {split.scheme}://{split.netloc.rpartition('@')[2]}{split.path}"
        query = _PATIENCE.get(split.scheme, {}) | dict(parse_qsl(split.query))
        self._url = urlunsplit(split._replace(query=urlencode(query)))
        self._cache = cache
        self._opened: tuple[pafs.FileSystem, str] | None = None

    def names(self) -> Sequence[str]:
        """Names of the segments, oldest first."""
        try:
            system, folder = self._open()
            found = system.get_file_info(pafs.FileSelector(folder, allow_not_found=True))
        except (OSError, pa.ArrowException) as error:
            raise self._failed("read", error) from error
        return sorted(one.base_name for one in found if one.is_file and segments.kind(one.base_name))

    def files(self, names: Sequence[str]) -> Mapping[str, Path]:
        """Local copies."""
        for name in self._cache.missing(names):
            for content in self.stored([name]).values():
                self._cache.keep(name, content)
        return self._cache.files(names)

    def stored(self, names: Sequence[str]) -> Mapping[str, bytes]:
        """The objects."""
        system, folder = self._open()
        found: dict[str, bytes] = {}
        for name in names:
            try:
                with system.open_input_stream(f"{folder}/{name}") as stream:
                    found[name] = stream.read()
            except FileNotFoundError:
                continue
            except (OSError, pa.ArrowException) as error:
                raise self._failed("read", error) from error
        return found

    def add(self, name: str, content: bytes) -> None:
        """Uploads one object, unless it is there with as many bytes.

        Raises:
            HistoryError: the store refuses or cannot be reached.
        """
        try:
            system, folder = self._open()
            there = system.get_file_info(f"{folder}/{name}")
            if there.is_file and there.size == len(content):
                return
            with system.open_output_stream(f"{folder}/{name}") as stream:
                stream.write(content)
        except (OSError, pa.ArrowException) as error:
            raise self._failed("written", error) from error

    def set_aside(self, name: str) -> bool:
        """Nothing is removed from a store: the local copy is dropped."""
        self._cache.drop(name)
        return False

    def notes(self) -> Sequence[str]:
        """Nothing."""
        return ()

    def _open(self) -> tuple[pafs.FileSystem, str]:
        if self._opened is None:
            try:
                system, folder = pafs.FileSystem.from_uri(self._url)
            except (OSError, ValueError, pa.ArrowException) as error:
                raise self._failed("opened", error) from error
            self._opened = system, folder.rstrip("/")
        return self._opened

    def _failed(self, done: str, error: Exception) -> HistoryError:
        said = " ".join(str(error).split())[:200]
        return HistoryError(f"history in the {self.label} cannot be {done}: {said}")
