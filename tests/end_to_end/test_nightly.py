"""`suspects nightly`: two nights in a row, histories that fail, nothing measured, a git branch."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.repositories.git import Repository
from bot.compose.nightly_git import line_before
from bot.model.revisions import Revision
from tests.end_to_end.builders import CONFIG, Ended, Place, config, loop, shell
from tests.end_to_end.builders import wait_for_line as wait

DRAWN = """\
import os
import numpy as np
RNG = np.random.default_rng(int(os.environ.get("DRAW", "0")))
"""
MODEL = """\
def seconds(revision, configurations):
    base = 1.0 + configurations @ np.array([0.3, 0.1, 0.2])
    base = base + (revision >= {since}) * 0.25 * configurations[:, 0] * configurations[:, 2]
    return base * RNG.normal(1.0, 0.01, len(configurations))
"""
HISTORY = ".suspects/history"


def moving(place: Place, since: int = 1000, code: str | None = None, revisions: int = 60) -> Path:
    """A callable subject in a folder of its own."""
    folder = place.out / "moving"
    folder.mkdir(exist_ok=True)
    (folder / "model.py").write_text(
        DRAWN + (code if code is not None else MODEL.replace("{since}", str(since)))
    )
    program = {"callable": "model:seconds", "revisions": revisions}
    options = {name: {"flag": f"-{name}"} for name in "abc"}
    path = folder / "suspects.yml"
    path.write_text(json.dumps({"program": program, "options": options}))
    return path


def night(
    place: Place, path: Path, *arguments: str, env: Mapping[str, str] | None = None, **how: Any
) -> Ended:
    """A night whose noise is that of its number."""
    draw = str(sum(1 for _ in path.parent.rglob("*.parquet")))
    report = str(place.out / "report.json")
    words = ["nightly", "--config", str(path), "--budget", "900s", "--json", report, *arguments]
    return place.suspects(*words, cwd=path.parent, env={"DRAW": draw, **(env or {})}, **how)


def test_the_second_night_knows_the_first_and_finds_the_commit(place: Place) -> None:
    path = moving(place, since=47)
    first = night(place, path, "--head", "40")
    assert first.code == 0 and first.report is not None and first.report["verdict"] == "none"
    assert first.report["mode"] == "nightly" and first.report["history"]["source"] is None
    assert "this is the first" in first.notes
    second = night(place, path, "--head", "52", "--fail-on", "regression")
    assert second.code == 1 and second.report is not None
    (point,) = second.report["change_points"]
    assert (point["revision"], point["interval"], point["term"]) == ("47", ["47", "47"], ["a", "c"])
    history = second.report["history"]
    assert history["source"] == "directory" and history["measurements"] == first.report["spent"]["trials"]
    assert history["age_days"] < 1 and "this is the first" not in second.notes
    listed = place.suspects("history", "list", "--json", "-", "--config", str(path), cwd=path.parent)
    runs = [segment["run"] for segment in json.loads(listed.out)["segments"]]
    assert [run["mode"] for run in runs] == ["nightly", "nightly"] and len({run["id"] for run in runs}) == 2
    assert [run["label"] for run in runs] == ["40", "52"]


def test_a_regression_is_told_when_its_nights_and_its_anchor_are_long_gone(place: Place) -> None:
    path = moving(place, since=47, revisions=700)
    for head in (40, 55, 570, 580):
        ended = night(place, path, "--head", str(head), "--fail-on", "regression")
        assert ended.code == (head > 40) and ended.report is not None
    report = ended.report or {}
    (point,) = report["change_points"]
    assert (point["revision"], point["term"], point["before"]["revision"]) == ("47", ["a", "c"], "46")
    assert int(report["base"]["revision"]) > 500
    assert "Known from earlier nights' trials and not accepted" in json.dumps(report["lists"])


def test_two_nights_of_one_seed_look_at_different_configurations(place: Place) -> None:
    options = {f"o{i}": {"flag": f"-{i}"} for i in range(12)}
    path = moving(place, code="def seconds(r, c):\n    return RNG.normal(1.0, 0.01, len(c))\n")
    path.write_text(
        json.dumps({"program": {"callable": "model:seconds", "revisions": 60}, "options": options})
    )
    shown = []
    for head in ("40", "50"):
        ended = night(place, path, "--head", head)
        assert ended.report is not None
        shown.append({json.dumps(series["options"]) for series in ended.report["series"]})
    # The emptiest and the fullest one are the anchor's, in every night.
    assert len(shown[0]) == len(shown[1]) == 8 and len(shown[0] & shown[1]) == 2


def test_without_a_head_the_last_revision_is_the_tip(place: Place) -> None:
    ended = night(place, moving(place))
    assert ended.code == 0 and ended.report is not None and ended.report["head"]["revision"] == "59"


def test_a_table_ends_when_it_only_repeats_itself(place: Place) -> None:
    folder = place.out / "table"
    folder.mkdir()
    rows = ["commit,a,b,perf"]
    for revision in range(20):
        for a, b in ((0, 0), (1, 0), (0, 1)):
            value = 1.0 + 0.3 * a + 0.2 * b * (1 + (revision >= 15)) + 0.001 * (revision % 3)
            rows.append(f"{revision},{a},{b},{'' if revision == 7 else value}")
    (folder / "perf.csv").write_text("\n".join(rows) + "\n")
    path = folder / "suspects.yml"
    program = {"table": "perf.csv", "revision": "commit", "metric": "perf"}
    path.write_text(json.dumps({"program": program, "options": {n: {"flag": f"-{n}"} for n in "ab"}}))
    for head in ("7", "12", "19"):
        ended = night(place, path, "--head", head)
        assert ended.code == 0 and ended.report is not None and ended.report["primary_metric"] == "perf"
        failed = head == "7"
        assert ("Every trial at the tip" in ended.notes) == failed
        assert (ended.report["verdict"] == "inconclusive") or not failed
    assert ended.report is not None
    (point,) = ended.report["change_points"]
    assert point["interval"] == ["15", "15"] and point["term"] == ["b"]


def test_a_history_that_cannot_be_written_is_a_note(place: Place) -> None:
    path = moving(place)
    (path.parent / "taken").write_text("a file where a folder should be")
    ended = night(place, path, "--history", "directory:taken/history")
    assert ended.code == 0 and ended.report is not None and ended.report["verdict"] == "none"
    assert "not remembered" in ended.notes


def test_a_damaged_history_is_a_note_and_the_rest_is_used(place: Place) -> None:
    path = moving(place)
    night(place, path, "--head", "30")
    night(place, path, "--head", "40")
    segments = sorted((path.parent / HISTORY).glob("*.parquet"))
    segments[0].write_bytes(segments[0].read_bytes()[:-30])
    ended = night(place, path, "--head", "50")
    assert ended.code == 0 and ended.report is not None
    assert "damaged" in ended.notes and ended.report["history"]["measurements"] > 0


@pytest.mark.parametrize(
    "code", ["import numpy as np\ndef seconds(r, c):\n    return np.full(len(c), np.nan)\n"]
)
def test_a_night_in_which_nothing_could_be_measured_is_never_green(place: Place, code: str) -> None:
    ended = night(place, moving(place, code=code))
    assert ended.code == 3 and ended.report is not None and ended.report["verdict"] == "inconclusive"
    assert "Nothing was measured" in ended.out


def test_a_signal_ends_the_night_with_what_was_measured(place: Place) -> None:
    marks = place.out / "marks"
    code = MODEL.replace("{since}", "1000").replace(
        "    base = 1.0",
        f"    import time; time.sleep(0.02); open({str(marks)!r}, 'a').write('x')\n    base = 1.0",
    )
    path = moving(place, code=code)
    words = ["nightly", "--config", str(path), "--json", str(place.out / "report.json")]
    process = place.start(*words, cwd=path.parent)
    wait(process, "measuring")
    while not marks.exists() or marks.stat().st_size < 12:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    ended = place.finish(process)
    assert ended.code == 0 and ended.report is not None and ended.report["interrupted"] == "signal"
    assert len(list((path.parent / HISTORY).glob("*.parquet"))) == 1


def test_a_wrong_night_is_one_line(place: Place) -> None:
    path = moving(place)
    night(place, path, "--head", "60").refused("no revision '60'")
    night(place, path, "--estimator", "best").refused("--estimator best: not known; ours or published")
    night(place, path, "--budget", "never").refused("--budget never")
    night(place, path.with_name("nowhere.yml")).refused("nowhere.yml")


def test_the_step_summary_is_written_and_a_branch_is_not_remembered(place: Place) -> None:
    path = moving(place)
    event = place.out / "event.json"
    event.write_text(json.dumps({"ref": "refs/heads/topic", "repository": {"default_branch": "main"}}))
    summary = place.out / "summary.md"
    env = {
        "GITHUB_EVENT_NAME": "workflow_dispatch",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_STEP_SUMMARY": str(summary),
        "RUNNER_TEMP": str(place.temp),
    }
    ended = night(place, path, "--history", "directory:kept", env=env)
    assert ended.code == 0 and "This is not the default branch" in ended.notes
    assert "What was learnt" in summary.read_text() and not (path.parent / "kept").exists()


def program(since: int, revision: int) -> str:
    work = loop()
    slower = f"case \" $* \" in *' --beta '*) {work};; esac" if revision >= since else ""
    return shell(f"# {revision}", slower)


def test_two_nights_of_a_git_branch_find_the_commit(place: Place) -> None:
    ids = [place.commit({CONFIG: config(), "program.sh": program(9, revision)}) for revision in range(14)]
    words = ["nightly", "--budget", "20s", "--json", str(place.out / "report.json")]
    first = place.suspects(*words, "--head", ids[6])
    assert first.code == 0 and first.report is not None and first.report["change_points"] == []
    for _ in range(5):  # a machine that has other work may need more of them
        second = place.suspects(*words)
        assert second.code == 0 and second.report is not None
        report = second.report
        if report["change_points"]:
            break
    (point,) = report["change_points"]
    assert point["revision"] == ids[9] and point["interval"] == [ids[9], ids[9]] and point["term"] == ["beta"]
    assert report["verdict"] == "regression" and report["history"]["measurements"] > 0
    assert report["head"]["revision"] == ids[13]


def test_the_line_before_a_night_is_the_first_parents(place: Place) -> None:
    ids = [place.commit({"program.sh": str(revision)}) for revision in range(4)]
    place.git("checkout", "--quiet", "-b", "side", ids[1])
    place.commit({"side.txt": "beside"})
    place.git("checkout", "--quiet", "-")
    place.git("merge", "--quiet", "--no-edit", "side")
    merged = Revision(place.git("rev-parse", "HEAD").strip(), "merged")
    repository = Repository(place.repository, place.out / "home")
    assert [revision.id for revision in line_before(repository, merged)] == ids


def test_a_branch_that_cannot_be_built_is_never_green(place: Place) -> None:
    for revision in range(3):
        files = {CONFIG: config(program={"build": "exit 1"}), "program.sh": program(9, revision)}
        place.commit(files)
    ended = place.suspects("nightly", "--budget", "20s", "--json", str(place.out / "report.json"))
    assert ended.code == 3 and ended.report is not None and ended.report["mode"] == "nightly"
    assert ended.report["verdict"] == "inconclusive" and ended.report["build_failures"]


def test_without_another_tree_there_is_nothing_to_measure(place: Place) -> None:
    place.commit({CONFIG: config(), "program.sh": program(9, 0)})
    place.git("commit", "--quiet", "--allow-empty", "--message", "empty")
    ended = place.suspects("nightly", "--json", str(place.out / "report.json"))
    assert ended.code == 0 and ended.report is not None and ended.report["verdict"] == "none"
    assert "same tree" in ended.notes and ended.report["spent"]["trials"] == 0


def test_one_commit_cannot_be_compared(place: Place) -> None:
    place.commit({CONFIG: config(), "program.sh": program(9, 0)})
    place.suspects("nightly").refused("There is no commit before HEAD")


WORK = """\
import sys
def mix(n):
    s = n
    for i in range(900):
        s = (s * 1664525 + 1013904223) & 0xFFFFFFFF
    return s
def plain(n):
    s = n
    for i in range(40):
        s ^= s >> 7
    return s
count = 1 + int(sys.argv[-1][-1])
total = sum(plain(i) for i in range(400 * count))
if "--alpha" in sys.argv:
    total += sum(mix(i) for i in range(150))
"""


def test_a_night_of_the_published_pipeline_profiles_its_sample_and_its_learner_tells_influences(
    place: Place,
) -> None:
    options = {
        **{name: {"flag": f"--{name}"} for name in ("alpha", "beta")},
        "times": {"number": [1, 2, 3], "flag": "--times={value}"},
    }
    run = "python3 work.py {options}"
    place.commit({CONFIG: config(run, options=options, program={"runtime": "python"}), "work.py": WORK})
    place.commit({"README": "nothing that runs"})
    words = ["nightly", "--estimator", "published", "--budget", "240s"]
    words += ["--json", str(place.out / "report.json")]
    for _ in range(6):  # a machine that has other work may need more of them
        ended = place.suspects(*words)
        assert ended.code == 0, ended.said
        assert "Published sample: " in ended.notes and "No published algorithm plans" in ended.notes
        if "12 of 12 configurations profiled 5 times." in ended.notes:
            break
    assert ended.report is not None
    assert "Learnt by the published pipeline from 12 profiled configurations at 1 revision" in ended.notes
    told = ended.report["influences"]
    assert {(None, "alpha"), ("work:mix", "alpha")} <= {(e["method"], *e["term"]) for e in told}
    assert max(told, key=lambda e: e["influence"])["term"] == ["alpha"]


def test_a_table_or_callable_has_the_published_learner_too(place: Place) -> None:
    ended = night(place, moving(place), "--estimator", "published")
    assert ended.code == 0 and ended.report is not None
    assert "No published algorithm plans a night's search" in ended.notes, ended.notes
