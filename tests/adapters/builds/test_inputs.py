"""Workloads are made once, and both sides read the same bytes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from bot.adapters.builds.workshop import Workshop
from bot.model.subject import Workload
from tests.adapters.yard import Yard


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
    step = "workloads" if prepare is None and path == "bench/text.txt" else "prepare"
    assert [(b.ok, b.step) for b in builds.values()] == [(False, step), (False, step)]
    assert reason in builds["base"].reason
    assert not list(workshop.scratch.glob("*-copy"))
