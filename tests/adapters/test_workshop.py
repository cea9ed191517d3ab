"""Both sides are built by their own accounts, once, and whatever goes wrong is an outcome."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.adapters import process
from bot.adapters.git import Repository
from bot.adapters.workshop import Workshop
from bot.model.revisions import Comparison
from bot.model.subject import Program, Subject, Workload
from tests.adapters.repositories import commit, git, new_repository

ROOT = os.geteuid() == 0
BUILD = "sh ./build.sh"
needs_root = pytest.mark.skipif(not ROOT, reason="accounts and mounts need root")


class Yard:
    """A repository with a base (v1) and a head, and workshops for it that are all closed at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repository = new_repository(path / "repository")
        self.cache = path / "cache"
        self.accounts = process.accounts("auto").of
        self._open: list[Workshop] = []

    def commits(self, base: dict[str, str], head: dict[str, str | None]) -> None:
        """Base (with a build script that counts its runs outside, when it may) and head."""
        commit(self.repository, {"build.sh": "echo built > product\n", **base})
        git(self.repository, "tag", "v1")
        commit(self.repository, {"changed": "1", **head})

    def opened(self) -> Repository:
        """The repository as our adapter sees it."""
        return Repository(self.repository, self.path / "private")

    def comparison(self) -> Comparison:
        """v1 against HEAD."""
        return self.opened().resolve("v1", "HEAD")

    def workshop(self, *, workloads: dict[str, Workload] | None = None, **keys: Any) -> Workshop:
        """A workshop for a program with these keys (`cache`, `passed`, `stop` are the workshop's)."""
        own = {k: keys.pop(k) for k in ("passed", "stop") if k in keys}
        cache = keys.pop("cache", self.cache)
        program = Program(**{"run": "./product", "build": BUILD, **keys})
        made = Workshop(
            self.opened(),
            Subject(program=program, workloads=workloads or {}),
            accounts=self.accounts,
            cache=cache,
            machine=self.path / "machine",
            **own,
        )
        self._open.append(made)
        return made

    def close(self) -> None:
        """Closes all workshops and looks for leftovers."""
        for workshop in self._open:
            workshop.close()
            assert not workshop.scratch.exists()


@pytest.fixture
def yard(open_path: Path) -> Iterator[Yard]:
    made = Yard(open_path)
    yield made
    made.close()


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
    assert sorted(p.name for p in site.root.iterdir()) == ["build.sh", "product"]
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
        assert set(variables) == {"PATH", "LC_ALL", "HOME", "TMPDIR", "MODE", "JAVA_HOME", "PWD"}
        assert not Path(variables["HOME"]).exists() and not Path(variables["TMPDIR"]).exists()
        expected = site.account.uid if site.account else os.geteuid()
        assert (site.root / "who").read_text().strip() == str(expected)


def test_a_second_run_takes_both_trees_from_the_cache_until_anything_changes(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.adapters.build_cache.KEPT_TREES", 100)
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
    started = yard.path / "started"
    wait_once = f"test -e {started} || {{ touch {started}; sleep 1000; }}"
    yard.commits({"build.sh": f"echo half > product; {wait_once}; echo whole > product\n"}, {})
    code = (
        "from pathlib import Path; from tests.adapters.test_workshop import Yard\n"
        "yard = Yard.__new__(Yard)\n"
        f"yard.path = Path({str(yard.path)!r}); yard.repository = yard.path / 'repository'\n"
        "yard.cache = yard.path / 'cache'; yard._open = []; yard.accounts = {'base': None, 'head': None}\n"
        "yard.workshop().build(yard.comparison())"
    )
    environment = {"PATH": process.PATH, "TMPDIR": str(yard.path)}
    ours = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2], env=environment)
    while not started.exists():
        assert ours.poll() is None
        time.sleep(0.01)
    ours.kill()
    ours.wait()
    assert list(yard.cache.glob("*.json")) == []
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
    assert sorted(p.name for p in root.iterdir()) == ["build.sh", "changed", "program.sh"]
    assert os.access(root / "program.sh", os.X_OK)


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


def prepared(yard: Yard, workload: Workload, **keys: Any) -> tuple[Workshop, Callable[[], str]]:
    workshop = yard.workshop(workloads={"text": workload}, **keys)
    builds = workshop.build(yard.comparison())
    assert all(b.ok for b in builds.values()), builds
    return workshop, workshop.sites()["head"].workloads["text"].read_text


def test_a_workload_is_prepared_once_and_both_sides_read_the_same_file(yard: Yard) -> None:
    script = "cat product > bench/text.txt; date +%N >> bench/text.txt; id -u >> bench/text.txt\n"
    yard.commits({"bench/make.sh": script}, {"bench/make.sh": "echo head > bench/text.txt\n"})
    workshop, read = prepared(yard, Workload(path="bench/text.txt", prepare="./bench/make.sh"))
    base, head = (workshop.sites()[side].workloads for side in ("base", "head"))
    assert base["text"] == head["text"] == base["bench/text.txt"]
    lines = read().splitlines()
    account = yard.accounts["base"]
    assert (lines[0], lines[2]) == ("built", str(account.uid if account else os.geteuid()))
    assert base["text"].name == "text.txt"
    assert base["text"].stat().st_mode & 0o777 == 0o444
    assert not (workshop.sites()["base"].root / "bench" / "text.txt").exists()
    assert not list(workshop.scratch.glob("*-copy"))


def test_a_workload_that_only_head_has_comes_from_head_with_a_note(yard: Yard) -> None:
    yard.commits({}, {"bench/make.sh": "#!/bin/sh\necho head > bench/text.txt\n"})
    workshop, read = prepared(yard, Workload(path="bench/text.txt", prepare="./bench/make.sh"))
    assert read() == "head\n"
    assert "comes from head" in workshop.notes()[0]


def test_a_workload_without_prepare_is_the_file_of_base(yard: Yard) -> None:
    yard.commits({"bench/text.txt": "base"}, {"bench/text.txt": "head"})
    _, read = prepared(yard, Workload(path="bench/text.txt"), build=None)
    assert read() == "base"


def test_a_folder_can_be_a_workload(yard: Yard) -> None:
    yard.commits({"bench/in/one": "1", "bench/in/two": "2"}, {})
    workshop = yard.workshop(workloads={"text": Workload(path="bench/in")})
    assert all(b.ok for b in workshop.build(yard.comparison()).values())
    folder = workshop.sites()["base"].workloads["text"]
    assert sorted(p.name for p in folder.iterdir()) == ["one", "two"]


@pytest.mark.parametrize(
    ("prepare", "path", "reason"),
    [
        ("true", "bench/text.txt", "there is no bench/text.txt at base after `prepare`"),
        (None, "bench/text.txt", "there is no bench/text.txt at base."),
        ("exit 4", "bench/text.txt", "`prepare` of workload text at base ended with exit code 4."),
        (None, "/etc/passwd", "must be a path inside the checkout"),
        (None, "../repository", "must be a path inside the checkout"),
        ("ln -s /etc link", "link/passwd", "a symbolic link that leaves the checkout"),
        ("ln -s /etc/passwd link", "link", "a symbolic link that leaves the checkout"),
        ("mkfifo pipe", "pipe", "there is no pipe at base after `prepare`"),
    ],
)
def test_a_workload_that_cannot_be_had_is_an_outcome(
    yard: Yard, prepare: str | None, path: str, reason: str
) -> None:
    yard.commits({}, {})
    workshop = yard.workshop(workloads={"text": Workload(path=path, prepare=prepare)})
    builds = workshop.build(yard.comparison())
    assert [(b.ok, b.step) for b in builds.values()] == [(False, "prepare"), (False, "prepare")]
    assert reason in builds["base"].reason
    assert not list(workshop.scratch.glob("*-copy"))


def test_old_trees_leave_the_cache_but_not_those_in_use(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adapters.build_cache.KEPT_TREES", 1)
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
