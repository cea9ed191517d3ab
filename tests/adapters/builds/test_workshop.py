"""Both sides are built by their own accounts, once, and whatever goes wrong is an outcome."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.processes import process
from tests.adapters.yard import BUILD, Yard

ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not ROOT, reason="accounts and mounts need root")


def test_both_sides_are_built_and_sealed_at_paths_of_one_length(yard: Yard) -> None:
    yard.commits({}, {"build.sh": "echo newer > product\n"})
    workshop = yard.workshop()
    builds = workshop.build(yard.comparison())
    assert [(b.side, b.ok, b.cached) for b in builds.values()] == [
        ("base", True, False),
        ("head", True, False),
    ]
    sites = workshop.sites()
    assert (sites["base"].root / "product").read_text() == "built\n"
    assert (sites["head"].root / "product").read_text() == "newer\n"
    assert len(str(sites["base"].root)) == len(str(sites["head"].root))
    for side, site in sites.items():
        assert site.account == yard.accounts[side]
        for path in (site.root, *site.root.rglob("*")):
            assert path.lstat().st_mode & 0o222 == 0
        assert sorted(p.name for p in site.root.parent.iterdir()) == ["tree"]


def test_a_program_without_a_build_step_is_checked_out_and_not_built(yard: Yard) -> None:
    yard.commits({}, {"new": "file"})
    builds = yard.workshop(build=None).build(yard.comparison()).values()
    assert [(b.ok, b.ran) for b in builds] == [(True, False), (True, False)]


@needs_root
def test_a_trial_cannot_change_its_checkout_or_the_cache(yard: Yard) -> None:
    yard.commits({}, {})
    workshop = yard.workshop()
    workshop.build(yard.comparison())
    site = workshop.sites()["base"]
    attack = (
        f"chmod u+w . product; echo x >> product; touch new; mv product y; rm -rf {yard.cache}/*; echo end"
    )
    ended = process.run(
        ["sh", "-c", attack], cwd=site.root, env={"PATH": process.PATH}, account=site.account, timeout=60
    )
    assert ended.log.endswith("end")
    assert sorted(p.name for p in site.root.iterdir()) == [".git", "build.sh", "product"]
    assert (site.root / "product").read_text() == "built\n"


def test_a_build_has_a_clean_environment_and_private_folders(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "s3cret")
    yard.commits({"build.sh": "env > product; touch $HOME/h $TMPDIR/t; id -u > who\n"}, {})
    workshop = yard.workshop(env={"MODE": "fast"}, passed={"JAVA_HOME": "/opt/java"})
    assert all(b.ok for b in workshop.build(yard.comparison()).values())
    for site in workshop.sites().values():
        lines = (site.root / "product").read_text().splitlines()
        variables = dict(line.split("=", 1) for line in lines)
        ours = {"PATH", "LC_ALL", "HOME", "TMPDIR", "PWD", "CARGO_PROFILE_RELEASE_DEBUG"}
        assert set(variables) == {*ours, "MODE", "JAVA_HOME"}
        assert not Path(variables["HOME"]).exists() and not Path(variables["TMPDIR"]).exists()
        expected = site.account.uid if site.account else os.geteuid()
        assert (site.root / "who").read_text().strip() == str(expected)


def test_a_second_run_takes_both_trees_from_the_cache_until_anything_changes(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.adapters.builds.build_cache.KEPT_TREES", 100)
    yard.commits({}, {})
    comparison = yard.comparison()

    def cached(**keys: Any) -> list[bool]:
        workshop = yard.workshop(**keys)
        builds = workshop.build(comparison)
        assert all(b.ok for b in builds.values())
        assert (workshop.sites()["base"].root / "product").exists()
        workshop.close()
        return [b.cached for b in builds.values()]

    assert cached() == [False, False]
    assert cached() == [True, True]
    assert cached(build=BUILD + " ") == [False, False]
    assert cached(env={"A": "1"}) == [False, False]
    assert cached(passed={"A": "2"}) == [False, False]
    assert cached(setup="true") == [False, False]
    assert cached() == [True, True]


def test_a_tree_that_was_changed_after_its_build_is_built_again(yard: Yard) -> None:
    yard.commits({}, {})
    first = yard.workshop()
    first.build(yard.comparison())
    product = first.sites()["base"].root / "product"
    first.close()
    product.chmod(0o644)
    product.write_text("tampered with\n")
    again = yard.workshop()
    assert [b.cached for b in again.build(yard.comparison()).values()] == [False, True]
    assert product.read_text() == "built\n"


def test_a_run_that_was_killed_while_building_leaves_nothing_that_counts(yard: Yard) -> None:
    go_on = yard.path / "go on"
    wait_once = f"touch started; test -e '{go_on}' || sleep 1000"
    yard.commits({"build.sh": f"echo half > product; {wait_once}; echo whole > product\n"}, {})
    code = (
        "from pathlib import Path; from tests.adapters.yard import Yard\n"
        "yard = Yard.__new__(Yard)\n"
        f"yard.path = Path({str(yard.path)!r}); yard.repository = yard.path / 'repository'\n"
        "yard.cache = yard.path / 'cache'; yard._open = []; yard.accounts = {'base': None, 'head': None}\n"
        "yard.workshop().build(yard.comparison())"
    )
    environment = {**os.environ, "TMPDIR": str(yard.path)}
    ours = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[3], env=environment)
    while not list(yard.cache.rglob("started")):
        assert ours.poll() is None
        time.sleep(0.01)
    ours.kill()
    ours.wait()
    assert list(yard.cache.glob("*.json")) == []
    go_on.touch()
    workshop = yard.workshop()
    assert [b.ok for b in workshop.build(yard.comparison()).values()] == [True, True]
    assert (workshop.sites()["base"].root / "product").read_text() == "whole\n"


def test_a_failed_build_is_an_outcome_with_its_last_lines(yard: Yard) -> None:
    yard.commits({}, {"build.sh": "seq 100; printf '\\033[31mred\\033[0m\\n' >&2; exit 7\n"})
    builds = yard.workshop().build(yard.comparison())
    assert builds["base"].ok and not builds["head"].ok
    head = builds["head"]
    assert (head.step, head.reason) == ("build", "`build` of head ended with exit code 7.")
    assert head.log.splitlines() == [*(str(i) for i in range(62, 101)), "red"]
    again = yard.workshop().build(yard.comparison())
    assert again["base"].cached and not again["head"].ok


def test_a_build_that_takes_too_long_or_is_stopped_is_an_outcome(yard: Yard) -> None:
    yard.commits({"build.sh": "echo begun; sleep 1000\n"}, {})
    slow = yard.workshop(build_timeout=0.4).build(yard.comparison())
    assert {b.ok for b in slow.values()} == {False}
    assert "took longer than" in slow["base"].reason
    stopped = yard.workshop(stop=lambda: True).build(yard.comparison())
    assert stopped["head"].reason == "`build` of head was stopped with the run."


def test_without_a_build_command_the_checkout_is_used_as_it_is(yard: Yard) -> None:
    yard.commits({"program.sh": "echo 1"}, {})
    workshop = yard.workshop(build=None)
    assert all(b.ok for b in workshop.build(yard.comparison()).values())
    root = workshop.sites()["head"].root
    assert sorted(p.name for p in root.iterdir()) == [".git", "build.sh", "changed", "program.sh"]
    assert os.access(root / "program.sh", os.X_OK)


@pytest.mark.parametrize("build", [None, "sh build.sh"])
def test_a_program_that_looks_upwards_for_its_project_finds_its_own_checkout(
    yard: Yard, build: str | None
) -> None:
    yard.commits({"program.sh": "echo 1"}, {})
    workshop = yard.workshop(build=build)
    assert all(b.ok for b in workshop.build(yard.comparison()).values())
    root = workshop.sites()["head"].root
    assert next(folder for folder in (root, *root.parents) if (folder / ".git").exists()) == root
    assert sorted(path.name for path in (root / ".git").iterdir()) == ["HEAD", "objects", "refs"]


def test_a_build_that_asks_git_is_told_of_a_clone_without_commits(yard: Yard) -> None:
    asks = (
        "git rev-parse --show-toplevel > top && git status --porcelain > files; git log -1 2>&1 | cat > log"
    )
    yard.commits({"build.sh": asks}, {})
    workshop = yard.workshop()
    built = workshop.build(yard.comparison())
    assert all(one.ok for one in built.values()), built
    root = workshop.sites()["head"].root
    assert (root / "top").read_text().strip() == str(root)
    assert "?? build.sh" in (root / "files").read_text()
    assert "does not have any commits" in (root / "log").read_text()


def test_equal_recipes_are_built_once(yard: Yard) -> None:
    yard.commits({}, {})
    workshop = yard.workshop()
    same = yard.opened().resolve("v1", "v1")
    builds = workshop.build(same)
    assert [b.side for b in builds.values()] == ["base", "head"]
    assert workshop.sites()["base"].root == workshop.sites()["head"].root


def test_setup_runs_once_on_a_machine_before_any_checkout(yard: Yard) -> None:
    record = yard.path / "record"
    setup = f"ls -A | wc -l >> {record}; ls {yard.cache} | wc -l >> {record}; echo $HOME >> {record}"
    yard.commits({}, {})
    for _ in range(2):
        workshop = yard.workshop(setup=setup)
        assert all(b.ok for b in workshop.build(yard.comparison()).values())
        workshop.close()
    lines = record.read_text().splitlines()
    assert [line.strip() for line in lines[:2]] == ["0", "0"]
    assert len(lines) == 3
    assert not Path(lines[2]).exists()


def test_a_failed_setup_is_an_outcome_of_both_sides_and_is_tried_again(yard: Yard) -> None:
    yard.commits({}, {})
    flag = yard.path / "flag"
    setup = f"echo trying; test -e {flag} || exit 5"
    builds = yard.workshop(setup=setup).build(yard.comparison())
    assert [(b.side, b.ok, b.step) for b in builds.values()] == [
        ("base", False, "setup"),
        ("head", False, "setup"),
    ]
    assert builds["head"].log == "trying"
    flag.touch()
    assert all(b.ok for b in yard.workshop(setup=setup).build(yard.comparison()).values())


def test_a_cache_that_cannot_be_used_is_a_note(yard: Yard) -> None:
    yard.commits({}, {})
    (yard.path / "file").write_text("")
    workshop = yard.workshop(cache=yard.path / "file" / "cache")
    assert all(b.ok for b in workshop.build(yard.comparison()).values())
    assert len(workshop.notes()) == 1
    assert "not kept" in workshop.notes()[0]


@needs_root
def test_a_cache_where_the_accounts_cannot_enter_is_a_note(yard: Yard, tmp_path: Path) -> None:
    yard.commits({}, {})
    tmp_path.chmod(0o700)
    workshop = yard.workshop(cache=tmp_path / "cache")
    assert all(b.ok for b in workshop.build(yard.comparison()).values())
    assert f"cannot enter {tmp_path}" in workshop.notes()[0] or "cannot enter" in workshop.notes()[0]


@needs_root
@pytest.mark.parametrize("build", ["head -c 3000000 /dev/zero > product", None])
def test_a_full_disk_is_an_outcome(yard: Yard, build: str | None) -> None:
    yard.commits({"large": "x" * (3_000_000 if build is None else 10)}, {})
    yard.cache.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=755", "none", str(yard.cache)], check=True)
    workshop = yard.workshop(build=build)
    try:
        builds = workshop.build(yard.comparison())
        assert [b.ok for b in builds.values()] == [False, False]
        text = builds["base"].reason + builds["base"].log
        assert re.search(r"No space left|\(0 MiB are free", text)
    finally:
        workshop.close()
        subprocess.run(["umount", str(yard.cache)], check=True)


def test_old_trees_leave_the_cache_but_not_those_in_use(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adapters.builds.build_cache.KEPT_TREES", 1)
    yard.commits({}, {})
    workshop = yard.workshop()
    workshop.build(yard.comparison())
    other = yard.workshop(env={"A": "1"})
    other.build(yard.comparison())
    assert len(list(yard.cache.glob("*.json"))) == 4
    workshop.close()
    other.build(yard.comparison())
    assert len(list(yard.cache.glob("*.json"))) in (1, 2)
    assert all(site.root.exists() for site in other.sites().values())
