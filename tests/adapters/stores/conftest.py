"""One history in each kind of place, ready to be written and read."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from bot.adapters.stores.branch import BranchPlace, Remote
from bot.adapters.stores.cache import Cache
from bot.adapters.stores.directory import DirectoryPlace
from bot.adapters.stores.layered import LayeredStore
from bot.adapters.stores.object import ObjectPlace
from bot.adapters.stores.place import Place
from tests.adapters.stores.uploaded import UploadedPlace, Uploads
from tests.repositories import git

if TYPE_CHECKING:
    from moto.server import ThreadedMotoServer

REF = "refs/heads/suspects-history"


class Ground:
    """A kind of place: `open` gives a view of the same place as a new process would have it."""

    def __init__(self, kind: str, tmp_path: Path, s3: Callable[[], str]) -> None:
        self.kind = kind
        self.path = tmp_path / "there"
        self._tmp_path = tmp_path
        self._views = 0
        if kind == "branch":
            self.path.mkdir()
            git(self.path, "init", "--quiet", "--bare", "--initial-branch=main")
        self.url = s3() if kind == "object" else ""
        self.uploads = Uploads() if kind == "artifact" else None

    def close(self) -> None:
        if self.uploads is not None:
            self.uploads.close()

    def open(self, *, cache: Path | None = None) -> Place:
        self._views += 1
        here = self._tmp_path / f"view-{self._views}"
        copies = Cache(cache or here / "cache")
        if self.kind == "directory":
            return DirectoryPlace(self.path)
        if self.kind == "object":
            return ObjectPlace(self.url, cache=copies)
        if self.uploads is not None:
            return UploadedPlace(self.uploads, copies)
        rng = np.random.default_rng(self._views)
        return BranchPlace(Remote(str(self.path), REF), home=here / "git", cache=copies, rng=rng)

    def store(self) -> LayeredStore:
        return LayeredStore([self.open()])

    def spoil(self, name: str, content: bytes) -> None:
        """Puts other bytes in a segment's place, behind the store's back."""
        if self.kind == "directory":
            (self.path / name).write_bytes(content)
        elif self.kind == "object":
            place = self.open()
            assert isinstance(place, ObjectPlace)
            system, folder = place._open()
            with system.open_output_stream(f"{folder}/{name}") as stream:
                stream.write(content)
        elif self.uploads is not None:
            self.uploads.upload(name, content)
        else:
            self._commit(name, content)

    def _commit(self, name: str, content: bytes) -> None:
        work = self._tmp_path / f"work-{uuid.uuid4().hex}"
        git(self._tmp_path, "clone", "--quiet", "--branch=suspects-history", str(self.path), str(work))
        (found,) = work.rglob(name)
        found.write_bytes(content)
        git(work, "commit", "--quiet", "--all", "--message=spoilt")
        git(work, "push", "--quiet", "origin", "suspects-history")


@pytest.fixture(scope="session")
def s3() -> Iterator[Callable[[], str]]:
    """Addresses of fresh folders in a bucket of an S3 server on loopback, which starts when first asked."""
    servers: list[ThreadedMotoServer] = []
    environment = {
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }

    def fresh() -> str:
        if not servers:
            servers.append(_server())
        host, port = servers[0].get_host_and_port()
        return f"s3://history/{uuid.uuid4().hex}?endpoint_override={host}:{port}&scheme=http&region=us-east-1"

    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment.items():
            patched.setenv(name, value)
        yield fresh
    for server in servers:
        server.stop()


def _server() -> ThreadedMotoServer:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1").create_bucket(
        Bucket="history"
    )
    return server


@pytest.fixture(params=["directory", "branch", "object", "artifact"])
def ground(request: pytest.FixtureRequest, tmp_path: Path, s3: Callable[[], str]) -> Iterator[Ground]:
    """Each kind of place, empty."""
    ground = Ground(request.param, tmp_path, s3)
    yield ground
    ground.close()
