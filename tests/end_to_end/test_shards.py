"""Several machines as real processes: a matrix, its jobs, and their union, as a person starts them."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.builders import Ended, Place, config, shell, wait_for_line
from tests.nursery import PATIENCE

SIMULATED = """import os
import numpy as np
rng = np.random.default_rng(int(os.environ.get("DRAW", "0")))
def seconds(revision, configurations):
    slower = 1.0 + 0.05 * configurations[:, 0] * (revision >= 8)
    return 0.05 * slower * np.exp(rng.normal(0.0, 0.01, len(configurations)))
"""


def matrix(place: Place, *arguments: str) -> list[dict[str, Any]]:
    """What `plan` writes; it is left in `plan.json`."""
    ended = place.suspects("plan", *arguments)
    assert ended.code == 0, ended.said
    (place.out / "plan.json").write_text(ended.out)
    (line,) = ended.out.splitlines()
    include: list[dict[str, Any]] = json.loads(line)["include"]
    return include


def shard(place: Place, number: int, *arguments: str) -> list[str]:
    """The words of one job."""
    out = str(place.out / "shards" / str(number))
    return ["shard", str(number), "--plan", str(place.out / "plan.json"), "--out", out, *arguments]


def merge(place: Place, *arguments: str) -> Ended:
    """Merges what lies in `shards`."""
    words = ["merge", str(place.out / "shards"), "--json", str(place.out / "report.json"), *arguments]
    return place.suspects(*words, "-q")


def left(place: Place, number: int) -> dict[str, Any]:
    """A shard's own report."""
    report: dict[str, Any] = json.loads((place.out / "shards" / str(number) / "report.json").read_text())
    return report


def simulated(place: Place) -> list[str]:
    """A callable subject; the words that name it."""
    path = place.folder / "subject"
    path.mkdir()
    (path / "program.py").write_text(SIMULATED)
    subject = json.loads(config())
    subject["program"] = {"callable": "program:seconds", "revisions": 10}
    (path / "suspects.yml").write_text(json.dumps(subject))
    return ["--config", str(path / "suspects.yml")]


def test_eight_jobs_of_which_one_is_killed_and_one_comes_twice(place: Place) -> None:
    place.pull_request(shell("# one"), shell("case $* in *--alpha*) sleep 0;; esac", "# two"))
    include = matrix(place, "--shards", "8", "--budget", "120s", "--base", "HEAD~1", "--head", "HEAD")
    assert [one["shard"] for one in include] == list(range(8))
    assert {one["budget"] for one in include} == {15.0}
    # The killed one has all the time in the world, so that it is killed while it measures.
    endless = matrix(place, "--shards", "8", "--budget", "4800s", "--base", "HEAD~1", "--head", "HEAD")
    assert endless[0]["plan"] != include[0]["plan"]
    killed = place.start(*shard(place, 5))
    wait_for_line(killed, "measuring")
    killed.send_signal(signal.SIGKILL)
    place.finish(killed, clean=False)
    matrix(place, "--shards", "8", "--budget", "120s", "--base", "HEAD~1", "--head", "HEAD")
    jobs = [place.start(*shard(place, number, "-q")) for number in range(8) if number != 5]
    said = [job.communicate(timeout=PATIENCE) for job in jobs]
    assert [job.returncode for job in jobs] == [0] * 7, said
    shutil.copytree(place.out / "shards" / "2", place.out / "shards" / "again")
    ended = merge(place)
    assert ended.report is not None and ended.code == 0, ended.said
    spent = {k: left(place, k)["spent"] for k in range(8) if k != 5}
    assert all(one["pairs"] > 0 for one in spent.values())
    for what in ("trials", "failed_trials"):
        assert ended.report["spent"][what] == sum(one[what] for one in spent.values()), what
    # Where base was far from itself, because eight jobs shared these cores, a shard does not count.
    counted = [k for k in spent if f"Shard {k} was left out: base " not in ended.notes]
    assert ended.report["spent"]["pairs"] == sum(spent[k]["pairs"] for k in counted) and len(counted) > 3
    assert "1 of 8 shards left nothing (5)" in ended.notes
    assert "Shard 2 lay there 2 times and counts once." in ended.notes
    assert "The folder 5 was left out: it is unfinished" in ended.notes
    first = (place.out / "report.json").read_bytes()
    assert merge(place).code == 0
    assert (place.out / "report.json").read_bytes() == first


def test_what_many_machines_find_is_one_answer(place: Place) -> None:
    named = simulated(place)
    question = ["--shards", "3", "--budget", "30s", "--base", "7", "--head", "8", *named]
    assert matrix(place, *question) == matrix(place, *question)
    for number in range(3):
        ended = place.suspects(*shard(place, number, *named), "-q", env={"DRAW": str(number)})
        assert ended.code == 0, ended.said
    ended = merge(place, *named, "--fail-on", "regression", "--markdown", str(place.out / "report.md"))
    assert ended.code == 1 and ended.report is not None
    assert ended.report["verdict"] == "regression"
    assert ended.report["suspects"]["options"][0]["term"] == ["alpha"]
    assert ended.report["spent"]["seconds"] <= 30.0 * 1.05
    assert "alpha" in (place.out / "report.md").read_text()


def test_a_shard_of_another_revision_is_left_out(place: Place) -> None:
    named = simulated(place)
    for head, number in (("8", 0), ("9", 1)):
        matrix(place, "--shards", "2", "--budget", "10s", "--base", "7", "--head", head, *named)
        assert place.suspects(*shard(place, number, *named), "-q").code == 0
    ended = merge(place, "--base", "7", "--head", "8", *named)
    assert ended.report is not None
    assert ended.report["spent"]["pairs"] == left(place, 0)["spent"]["pairs"]
    assert "1 shard was left out: of other revisions (7..9)." in ended.notes
    assert "1 of 2 shards left nothing (1)" in ended.notes


def test_jobs_may_make_the_plan_for_themselves(place: Place) -> None:
    named = simulated(place)
    question = ["--shards", "2", "--budget", "10s", "--base", "7", "--head", "8", *named]
    include = matrix(place, *question)
    ended = place.suspects("shard", "1", *question, "--out", str(place.out / "shards" / "1"))
    assert ended.code == 0 and "Left in" in ended.out
    text = (place.out / "shards" / "1" / "shard.json").read_text()
    own = json.loads(text.rpartition("\n")[0].rpartition("\n")[0])["shard"]
    assert own | {"runs-on": ""} == include[1] | {"runs-on": ""}


def test_runners_are_dealt_out_in_turn(place: Place) -> None:
    named = simulated(place)
    include = matrix(place, "--shards", "3", "--runners", "x64, arm64", "--base", "7", "--head", "8", *named)
    assert [one["runs-on"] for one in include] == ["x64", "arm64", "x64"]
    assert len({one["seed"] for one in include}) == 3
    assert len({(one["plan"], one["sample_seed"]) for one in include}) == 1


def test_nothing_to_merge_is_never_green(place: Place) -> None:
    named = simulated(place)
    ended = place.suspects("merge", str(place.out), *named)
    ended.refused("There is no shard to merge", code=3)
    ended = merge(place, "--base", "7", "--head", "8", *named)
    assert ended.code == 3 and ended.report is not None
    assert ended.report["verdict"] == "inconclusive"
    assert "No shard measured anything that counts." in ended.notes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["shard", "0"], "Which matrix?"),
        (["shard", "2", "--shards", "2", "--base", "7", "--head", "8"], "they are 0 to 1"),
        (["shard", "0", "--plan", "nowhere.json"], "nowhere.json"),
        (["shard", "0", "--plan", "/dev/null"], "not what `suspects plan` writes"),
        (["plan", "--shards", "300", "--base", "7", "--head", "8"], "1 to 256"),
        (["plan", "--shards", "2", "--base", "7", "--head", "99"], "no revision '99'"),
        (["merge", "x", "--base", "7"], "--base and --head go together"),
    ],
)
def test_a_wrong_command_is_one_line(place: Place, arguments: list[str], words: str) -> None:
    named = simulated(place)
    place.suspects(*arguments, *named).refused(words)


def test_a_nights_shards_enter_the_history_once(place: Place) -> None:
    named = simulated(place)
    history = ["--history", str(place.out / "history")]
    matrix(place, "--nightly", "--shards", "2", "--budget", "30s", *named)
    for number in range(2):
        job = shard(place, number, *named, *history, "-q")
        assert place.suspects(*job, env={"DRAW": str(number)}).code == 0
    assert not (place.out / "history").exists()
    own = [sum(1 for _ in Path(place.out / "shards" / str(k)).glob("*.parquet")) for k in range(2)]
    for _ in range(2):
        ended = merge(place, *named, *history)
        assert ended.code == 0 and ended.report is not None
        assert len(list((place.out / "history").iterdir())) == sum(own)
    assert ended.report is not None
    assert ended.report["mode"] == "nightly"
    (point,) = ended.report["change_points"]
    assert (point["revision"], point["term"]) == ("8", ["alpha"])
    assert ended.report["spent"]["trials"] == sum(left(place, k)["spent"]["trials"] for k in range(2))
    alone = place.suspects("nightly", "--budget", "5s", *named, *history, "-q")
    assert alone.code == 0
