"""Trees are sealed, copied and removed without following what untrusted code left in them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from bot.adapters.builds import checkout
from bot.adapters.processes import process
from bot.model.errors import UsageError
from tests.accounts import OWN

ROOT = os.geteuid() == 0
ACCOUNT = OWN["base"]


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "", ".", "out/passwd", "loop/x"])
def test_a_path_that_leaves_the_checkout_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError):
        checkout.inside(tmp_path, path)


def test_a_link_within_the_checkout_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert checkout.inside(tmp_path, "link/new.txt") == tmp_path.resolve() / "real" / "new.txt"


@pytest.mark.skipif(not ROOT, reason="accounts need root")
def test_a_folder_the_account_cannot_enter_is_named(open_path: Path) -> None:
    (open_path / "closed" / "inner").mkdir(parents=True)
    assert checkout.closed_folder(open_path / "closed" / "inner", ACCOUNT) is None
    (open_path / "closed").chmod(0o700)
    assert checkout.closed_folder(open_path / "closed" / "inner", ACCOUNT) == open_path / "closed"
    assert checkout.closed_folder(open_path / "closed" / "inner", None) is None
    checkout.give(open_path / "closed", ACCOUNT)
    assert checkout.closed_folder(open_path / "closed" / "inner", ACCOUNT) is None


def test_a_sealed_tree_is_readable_and_not_writable(open_path: Path) -> None:
    tree = open_path / "tree"
    tree.mkdir()
    outside = open_path / "outside"
    outside.write_text("x")
    outside.chmod(0o640)
    (tree / "link").symlink_to(outside)
    checkout.give(tree, ACCOUNT)
    command = ["sh", "-c", "umask 077; mkdir d; echo 1 > d/f; echo 2 > run; chmod 6700 run; mkfifo pipe"]
    process.run(command, cwd=tree, env={"PATH": process.PATH}, account=ACCOUNT, timeout=60)
    checkout.seal(tree, ACCOUNT)
    modes = {p.name: stat.S_IMODE(p.lstat().st_mode) for p in (tree, *tree.rglob("*")) if p.name != "link"}
    assert modes == {"tree": 0o555, "d": 0o555, "f": 0o444, "run": 0o555, "pipe": 0o444}
    assert {p.lstat().st_uid for p in (tree, *tree.rglob("*"))} == {os.geteuid()}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o640
    checkout.remove(tree)
    assert not tree.exists() and outside.exists()


@pytest.mark.skipif(not ROOT, reason="accounts need root")
def test_a_hard_link_to_a_file_of_another_user_is_refused(open_path: Path) -> None:
    secret = open_path / "secret"
    secret.write_text("x")
    secret.chmod(0o600)
    tree = open_path / "tree"
    tree.mkdir()
    checkout.give(tree, ACCOUNT)
    (tree / "innocent").hardlink_to(secret)
    with pytest.raises(checkout.ForeignFileError):
        checkout.seal(tree, ACCOUNT)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


@pytest.mark.skipif(not ROOT, reason="accounts need root")
def test_two_names_of_one_file_of_the_build_are_sealed_like_one(open_path: Path) -> None:
    tree = open_path / "tree"
    (tree / "deps").mkdir(parents=True)
    (tree / "deps" / "rg-162a").write_text("x")
    (tree / "rg").hardlink_to(tree / "deps" / "rg-162a")  # what cargo does
    checkout.give(tree, ACCOUNT)
    checkout.seal(tree, ACCOUNT)
    assert {p.lstat().st_uid for p in (tree, *tree.rglob("*"))} == {os.geteuid()}
    assert {stat.S_IMODE((tree / name).stat().st_mode) for name in ("rg", "deps/rg-162a")} == {0o444}


def test_a_copy_shares_nothing_and_a_linked_copy_shares_its_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "f").write_text("1")
    (tmp_path / "a" / "l").symlink_to("f")
    checkout.copy(tmp_path / "a", tmp_path / "b")
    checkout.link_copy(tmp_path / "a", tmp_path / "c")
    assert (tmp_path / "b" / "l").readlink() == Path("f")
    assert (tmp_path / "b" / "f").stat().st_ino != (tmp_path / "a" / "f").stat().st_ino
    assert (tmp_path / "c" / "f").stat().st_ino == (tmp_path / "a" / "f").stat().st_ino


def test_a_fingerprint_moves_with_every_change_but_not_with_a_move(tmp_path: Path) -> None:
    tree = tmp_path / "a"
    (tree / "d").mkdir(parents=True)
    (tree / "d" / "f").write_text("1")
    seen = {checkout.fingerprint(tree)}
    checkout.copy(tree, tmp_path / "b")
    assert checkout.fingerprint(tmp_path / "b") in seen
    (tree / "d" / "f").write_text("22")
    seen.add(checkout.fingerprint(tree))
    (tree / "d" / "f").chmod(0o755)
    seen.add(checkout.fingerprint(tree))
    (tree / "e").symlink_to("d")
    seen.add(checkout.fingerprint(tree))
    (tree / "e").unlink()
    (tree / "e").symlink_to("f")
    seen.add(checkout.fingerprint(tree))
    assert len(seen) == 5
