"""What only a branch can get wrong: races, refusals, credentials, and other people's repositories."""

from __future__ import annotations

import base64
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest

from bot.adapters.stores import segments
from bot.adapters.stores.branch import BranchPlace, Remote, repository_of
from bot.adapters.stores.cache import Cache
from bot.adapters.stores.layered import LayeredStore
from bot.model.errors import HistoryError
from tests.adapters.stores.conftest import REF
from tests.adapters.stores.samples import run
from tests.repositories import commit, git, new_repository


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    path = tmp_path / "bare.git"
    path.mkdir()
    git(path, "init", "--quiet", "--bare", "--initial-branch=main")
    return path


def place(tmp_path: Path, remote: Remote, waited: list[float] | None = None) -> BranchPlace:
    here = tmp_path / f"view-{np.random.default_rng().integers(1 << 60)}"
    return BranchPlace(
        remote,
        home=here / "git",
        cache=Cache(here / "cache"),
        rng=np.random.default_rng(1),
        pause=(waited if waited is not None else []).append,
    )


def store(tmp_path: Path, remote: Remote) -> LayeredStore:
    return LayeredStore([place(tmp_path, remote)])


def test_each_run_is_one_commit_with_one_more_file(tmp_path: Path, bare: Path) -> None:
    names = [store(tmp_path, Remote(str(bare), REF)).append(run(number)) for number in (0, 1)]
    assert git(bare, "rev-list", "--count", REF) == "2"
    assert git(bare, "ls-tree", "-r", "--name-only", REF).split() == [f"202401/{name}" for name in names]
    assert git(bare, "log", "--format=%an %s", REF).splitlines()[0] == "Suspects Measurements 20240102T040405"


def test_files_of_others_in_the_branch_stay_and_are_ignored(tmp_path: Path, bare: Path) -> None:
    store(tmp_path, Remote(str(bare), REF)).append(run(0))
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", "--branch=suspects-history", str(bare), str(work))
    commit(work, {"README.md": "hello", ".gitattributes": "* export-ignore export-subst eol=crlf\n"})
    git(work, "push", "--quiet", "origin", "suspects-history")
    store(tmp_path, Remote(str(bare), REF)).append(run(1))
    assert git(bare, "show", f"{REF}:README.md") == "hello"
    fresh = store(tmp_path, Remote(str(bare), REF))
    assert len(fresh.read().runs) == 2 and list(fresh.notes()) == []


class Racing(BranchPlace):
    """Somebody else is faster so many times, always just before our push."""

    others = 0
    other: BranchPlace

    def _push(self, commit: str, expected: str) -> str | None:
        if Racing.others:
            Racing.others -= 1
            name = f"20200101T0000{Racing.others:02d}Z-other-{Racing.others:032x}.parquet"
            (self.other._cache.folder).mkdir(parents=True, exist_ok=True)
            (self.other._cache.folder / name).write_bytes(b"theirs")
            self.other.add(name, b"theirs")
        return super()._push(commit, expected)


@pytest.mark.parametrize("first", [True, False], ids=["a new branch", "a branch"])
def test_a_lost_race_is_repeated_on_top_of_the_winner(tmp_path: Path, bare: Path, first: bool) -> None:
    remote = Remote(str(bare), REF)
    if not first:
        store(tmp_path, remote).append(run(9))
    waited: list[float] = []
    racing = Racing(
        remote,
        home=tmp_path / "mine",
        cache=Cache(tmp_path / "c"),
        rng=np.random.default_rng(2),
        pause=waited.append,
    )
    Racing.other = place(tmp_path, remote)
    Racing.others = 3
    name = LayeredStore([racing]).append(run(0))
    found = place(tmp_path, remote).names()
    assert name in found and len(found) == 4 + (not first)
    assert len(waited) == 3 and all(0 <= seconds <= 0.2 for seconds in waited)


def test_a_refusal_is_one_line_and_not_repeated(tmp_path: Path) -> None:
    """Somebody has the branch checked out: pushing into it would spoil what they see."""
    theirs = new_repository(tmp_path / "theirs")
    git(theirs, "checkout", "--quiet", "--orphan", "suspects-history")
    commit(theirs, {"a": "b"})
    waited: list[float] = []
    with pytest.raises(HistoryError, match=r"cannot be written: .*rejected") as caught:
        place(tmp_path, Remote(str(theirs), REF), waited).add(*segments.encode(run()))
    assert "\n" not in str(caught.value)
    assert waited == []


@pytest.mark.parametrize("url", ["/nowhere/at/all", "https://localhost:1/octo/tools", "ext::sh -c true"])
def test_a_remote_out_of_reach_is_told_and_the_rest_stays_usable(
    tmp_path: Path, bare: Path, url: str
) -> None:
    here = Remote(str(bare), REF)
    store(tmp_path, here).append(run(0))
    both = LayeredStore([place(tmp_path, Remote(url, REF)), place(tmp_path, here)])
    assert len(both.read().runs) == 1
    (note,) = both.notes()
    assert "branch suspects-history cannot be reached" in note and "\n" not in note


def test_a_token_goes_to_its_own_host_as_a_header(tmp_path: Path) -> None:
    seen: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("Authorization"))
            self.send_error(403)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/octo/tools"
        with pytest.raises(HistoryError, match="403") as caught:
            place(tmp_path, Remote(url, REF, token="a-secret")).names()
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    coded = base64.b64encode(b"x-access-token:a-secret").decode()
    assert seen == [f"Basic {coded}"]
    assert "secret" not in str(caught.value) and coded not in str(caught.value)
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"a-secret" in content or coded.encode() in content for content in kept)


def test_a_clone_continues_what_its_remote_has(tmp_path: Path, bare: Path) -> None:
    """A local run writes to the clone's own branch, on top of its copy of the remote's."""
    store(tmp_path, Remote(str(bare), REF)).append(run(0))
    clone = new_repository(tmp_path / "clone")
    commit(clone, {"a": "b"})
    git(clone, "remote", "add", "origin", str(bare))
    git(clone, "fetch", "--quiet", "origin")
    found = repository_of(clone)
    assert found == (str(clone / ".git"), clone)
    copy = "refs/remotes/origin/suspects-history"
    own = Remote(found[0], REF, seed=copy)
    LayeredStore([place(tmp_path, own), place(tmp_path, Remote(found[0], copy, writable=False))]).append(
        run(1)
    )
    assert git(clone, "status", "--porcelain") == ""
    git(clone, "push", "--quiet", "origin", "suspects-history")
    assert len(store(tmp_path, Remote(str(bare), REF)).read().runs) == 2


def test_a_folder_without_a_repository_has_none(tmp_path: Path) -> None:
    assert repository_of(tmp_path) is None
