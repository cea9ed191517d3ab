"""Folders that trusted builds leave for later ones."""

from __future__ import annotations

import socket

import pytest

from tests.adapters.builds.test_workshop import needs_root
from tests.adapters.yard import Yard
from tests.repositories import commit

DOWNLOAD = """\
cat ~/.kept/downloaded target/objects > product 2>/dev/null || echo nothing > product
mkdir -p ~/.kept/deep target
echo of $(cat version) > ~/.kept/downloaded
echo objects of $(cat version) > target/objects
cp /bin/true ~/.kept/deep && chmod 4755 ~/.kept/deep/true
"""
CACHE = ("~/.kept", "target")


@pytest.fixture
def downloading(yard: Yard) -> Yard:
    yard.commits({"build.sh": DOWNLOAD, "version": "base\n"}, {"version": "head\n"})
    return yard


def test_later_builds_find_what_base_left_and_never_what_head_left(downloading: Yard) -> None:
    first = downloading.workshop(kept=CACHE)
    assert all(b.ok for b in first.build(downloading.comparison()).values())
    first.close()
    again = downloading.workshop(kept=CACHE, env={"OTHER": "key"})  # built once more
    builds = again.build(downloading.comparison())
    assert all(b.ok and not b.cached for b in builds.values()), builds
    for site in again.sites().values():
        assert (site.root / "product").read_text() == "of base\nobjects of base\n"


MADE = """\
mkdir -p target
if [ target/program -nt version ]; then touch stale; else cp version target/program; fi
[ configure -nt version ] && touch uneven
cp target/program product
"""


@pytest.mark.parametrize("cache", [("target",), ("~/.kept", "target")])
def test_what_another_revision_built_is_older_than_every_file_of_a_checkout(
    yard: Yard, cache: tuple[str, ...]
) -> None:
    of_base = {"build.sh": MADE, "version": "base\n", "configure": "made of version\n"}
    yard.commits(of_base, {"version": "head\n"})
    workshop = yard.workshop(kept=cache)
    assert all(b.ok for b in workshop.build(yard.comparison()).values())
    workshop.close()
    again = yard.workshop(kept=cache, env={"OTHER": "key"})  # built once more, with what base left
    assert all(b.ok and not b.cached for b in again.build(yard.comparison()).values())
    for side, site in again.sites().items():
        assert (site.root / "product").read_text() == f"{side}\n"
        assert not (site.root / "stale").exists() and not (site.root / "uneven").exists()


def test_what_is_kept_is_sealed_and_without_set_uid_bits(downloading: Yard) -> None:
    workshop = downloading.workshop(kept=CACHE)
    workshop.build(downloading.comparison())
    kept = [p for p in (downloading.cache / "kept").rglob("*") if p.suffix != ".lock"]
    assert {p.name for p in kept} >= {"downloaded", "objects", "true"}
    assert all(p.stat().st_mode & 0o7222 == 0 for p in kept)


@needs_root
def test_a_link_to_a_file_of_others_keeps_what_was_there(yard: Yard) -> None:
    secret = yard.path / "secret"
    secret.write_text("ours\n")
    secret.chmod(0o644)
    yard.commits({"build.sh": f"mkdir ~/.kept; ln {secret} ~/.kept/stolen || touch ~/.kept/own\n"}, {})
    workshop = yard.workshop(kept=CACHE)
    assert all(b.ok for b in workshop.build(yard.comparison()).values())
    stolen = list((yard.cache / "kept").rglob("stolen"))
    assert not stolen or any("was not kept" in note for note in workshop.notes())


def test_a_folder_that_the_checkout_has_already_fails_the_build_in_one_line(downloading: Yard) -> None:
    workshop = downloading.workshop(kept=("target",))
    workshop.build(downloading.comparison())
    workshop.close()
    other = downloading.workshop(kept=("target",), build="sh ./build.sh; true")
    (downloading.repository / "target").mkdir()
    (downloading.repository / "target/own").write_text("own\n")
    commit(downloading.repository, {"more": "1"})
    builds = other.build(downloading.comparison())
    assert not builds["head"].ok
    assert "program.cache: target is in the checkout already" in builds["head"].reason


def test_a_build_has_the_network_only_where_the_program_says_so(yard: Yard) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = f"import socket; socket.create_connection(('127.0.0.1', {port}), 20)"
        yard.commits({"build.sh": f'python3 -c "{reach}" && touch product\n'}, {})
        without, using = yard.workshop(), yard.workshop(network=("setup", "build"))
        assert not any(build.ok for build in without.build(yard.comparison()).values())
        assert all(build.ok for build in using.build(yard.comparison()).values())


def test_a_set_up_has_no_network_where_the_program_says_so(yard: Yard) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = f"python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 20)\""
        yard.commits({}, {})
        refused = yard.workshop(setup=reach, network=()).build(yard.comparison())["base"]
        assert (refused.ok, refused.step) == (False, "setup")
        assert yard.workshop(setup=reach).build(yard.comparison())["base"].ok
