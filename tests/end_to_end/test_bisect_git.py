"""`suspects bisect` on real repositories: found at the exact revision, resumed after a kill, one clear line."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.builders import CONFIG, FLAGS, STEADY, Ended, Place, config, loop, shell

BUILD = {"build": "sh ./build.sh"}
FAILING = "exit 1\n"


def program(revision: int, slower: dict[str, int], *lines: str, turns: int = 6000) -> str:
    """A program that does the same work once more for each of its flags that became slower by then."""
    more = [
        f"case \" $* \" in *' --{flag} '*) {loop(str(turns))};; esac"
        for flag, at in slower.items()
        if revision >= at
    ]
    return shell(f"# {revision}", *lines, *more, turns=str(turns))


def history(
    place: Place, count: int, slower: dict[str, int], *, broken: Sequence[int] = (), merge: int = -1
) -> list[str]:
    """Commits revisions 0 to count - 1 on the first-parent line; their ids."""
    ids = []
    for revision in range(count):
        files = {
            CONFIG: config(program=BUILD),
            "program.sh": program(revision, slower),
            "build.sh": FAILING if revision in broken else "true\n",
        }
        if revision != merge:
            ids.append(place.commit(files))
            continue
        place.git("checkout", "--quiet", "-b", "side")
        place.commit({"side": "1"})
        place.commit(files)
        place.git("checkout", "--quiet", "main")
        place.git("merge", "--quiet", "--no-ff", "--message", "merge side", "side")
        ids.append(place.git("rev-parse", "HEAD"))
    return ids


def asking(place: Place, range_: str, *arguments: str) -> list[str]:
    return ["bisect", range_, "--json", str(place.out / "report.json"), *arguments]


def bisected(place: Place, range_: str, *arguments: str, **how: Any) -> Ended:
    return place.suspects(*asking(place, range_, *arguments), **how)


def measured(ended: Ended) -> dict[str, Any]:
    assert ended.code == 0 and ended.report is not None, ended.said
    return ended.report


def journal(place: Place) -> list[dict[str, Any]]:
    (path,) = (place.repository / ".suspects" / "bisect").glob("*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


def test_steps_are_found_at_their_revision_or_around_the_one_that_does_not_build(place: Place) -> None:
    ids = history(place, 12, {"beta": 5, "gamma": 9}, broken=[9], merge=5)
    report = measured(bisected(place, f"{ids[0]}..main"))
    points = {tuple(point["term"]): point for point in report["change_points"]}
    assert set(points) == {("beta",), ("gamma",)}
    assert points["beta",]["interval"] == [ids[5], ids[5]] and points["beta",]["subject"] == "merge side"
    assert set(points["gamma",]["interval"]) <= {ids[9], ids[10]}
    assert report["verdict"] == "regression" and report["interrupted"] == ""
    assert "1 of 12 revisions could not be built" in "\n".join(report["notes"])
    assert report["spent"]["builds"] == 12 and report["spent"]["failed_trials"] == 0
    again = measured(bisected(place, f"{ids[0]}..main"))
    assert again["spent"]["trials"] == 0 and again["change_points"] == report["change_points"]
