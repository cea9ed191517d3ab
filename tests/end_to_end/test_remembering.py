"""`suspects pr` with a history in a folder that earlier runs wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bot.adapters.documents.subject_file import load_subject
from bot.adapters.stores import segments
from bot.model.history import program_fingerprint
from bot.model.report import RevisionRef
from bot.model.space import Term
from tests.end_to_end.builders import CONFIG, STEADY, Ended, Place, config
from tests.unit.analysis.pasts import each_night
from tests.unit.analysis.worlds import sample

OPTIONS = ("a", "b", "c", "d", "e", "f")
CODE = """\
import numpy as np
RNG = np.random.default_rng({seed})
def seconds(revision, configurations):
    slower = {size} * configurations[:, 0] * configurations[:, 1] * (revision >= 20)
    return (1.0 + 0.3 * configurations[:, 2] + slower) * np.exp(RNG.normal(0, 0.02, len(configurations)))
"""
EARLIER = 12


def prepared(place: Place, *, seed: int = 1, size: float = 0.06) -> Path:
    """The configuration of a callable that gets slower at revision 20, with `a` and `b` together."""
    (place.out / "model.py").write_text(CODE.format(seed=seed, size=size))
    path = place.out / "suspects.yml"
    options = {name: {"flag": f"-{name}"} for name in OPTIONS}
    path.write_text(
        json.dumps({"program": {"callable": "model:seconds", "revisions": 21}, "options": options})
    )
    return path


def remembered(place: Place, *terms: Term, folder: str = "past") -> str:
    """A folder with the segments of nights in which these terms changed in turn; `--history` of it."""
    path = place.out / "suspects.yml"
    loaded = load_subject(path)
    rng = np.random.default_rng(5)
    changes = {at: (terms[at % len(terms)], 0.06 * (-1) ** (at // len(terms))) for at in range(1, EARLIER)}

    where = place.out / folder
    where.mkdir()
    for run in each_night(
        loaded.space,
        sample(loaded.space, 32, rng),
        changes,
        count=EARLIER,
        rng=rng,
        program=program_fingerprint(loaded),
        named=lambda at: RevisionRef(revision=str(at), label=str(at)),
    ):
        name, content = segments.encode(run)
        (where / name).write_bytes(content)
    return f"directory:{where}"


def pr(place: Place, history: str, *, base: int = 19, head: int = 20, budget: str = "300s") -> Ended:
    words = ["pr", "--config", str(place.out / "suspects.yml"), "--base", str(base), "--head", str(head)]
    words += ["--budget", budget, "--history", history, "--json", str(place.out / "report.json"), "-q"]
    return place.suspects(*words, cwd=place.out)


def effect(ended: Ended, *term: str) -> dict[str, Any]:
    assert ended.report is not None
    return next(e for e in ended.report["effects"] if e["term"] == list(term))


def test_a_pull_request_learns_from_the_folder_that_earlier_runs_wrote(place: Place) -> None:
    prepared(place)
    history = remembered(place, ("a", "b"))
    before = sorted((place.out / "past").iterdir())
    ended = pr(place, history)
    assert ended.code == 0 and ended.report is not None and ended.report["verdict"] == "regression"
    told = effect(ended, "a", "b")
    assert 0.02 < told["prior"] < 0.5 < 0.9 < told["probability"]
    assert ended.report["history"]["source"] == "directory" and ended.report["history"]["age_days"] > 0
    assert sorted((place.out / "past").iterdir()) == before  # a pull request never writes
    without = pr(place, f"directory:{place.out}/nothing")
    assert without.report is not None and without.report["history"]["source"] is None
    assert "History is empty" in without.notes and "No history was read" in without.notes
    assert all(e["prior"] is None for e in without.report["effects"])


def test_the_posterior_with_a_helpful_history_is_above_that_of_a_run_without_or_with_a_wrong_one(
    place: Place,
) -> None:
    prepared(place, seed=0)
    helpful, wrong = remembered(place, ("a", "b")), remembered(place, ("e",), ("!d",), folder="wrong")
    posterior = []
    for history in (helpful, f"directory:{place.out}/nothing", wrong):
        ended = pr(place, history, budget="200s")
        assert ended.report is not None
        named = [e for e in ended.report["suspects"]["options"] if e["term"] == ["a", "b"]]
        posterior.append(named[0]["probability"] if named else 0.0)
    assert posterior[0] > 0.99 and posterior[0] > max(posterior[1:])


@pytest.mark.parametrize("seed", range(3))
def test_a_misleading_history_raises_no_alarm_where_nothing_changed(place: Place, seed: int) -> None:
    prepared(place, seed=seed)
    ended = pr(place, remembered(place, ("a", "b"), ("c",)), base=18, head=19)
    assert ended.report is not None and ended.report["verdict"] in ("none", "inconclusive")
    assert not ended.report["suspects"]["options"]


def test_a_pull_request_of_a_repository_reads_its_own_folder_along_the_first_parent_line(
    place: Place,
) -> None:
    place.pull_request(text=config(metrics=["cpu"]))
    for turn in range(4):
        place.commit({"program.sh": STEADY + f"# {turn}\n"})
    line = place.git("rev-list", "--first-parent", "--reverse", "HEAD").split()
    subject = load_subject(place.repository / CONFIG)
    rng = np.random.default_rng(1)
    folder = place.repository / ".suspects/history"
    folder.mkdir(parents=True)
    for run in each_night(
        subject.space,
        sample(subject.space, 8, rng),
        {2: (("beta",), 0.2)},
        count=len(line) - 2,
        rng=rng,
        program=program_fingerprint(subject),
        named=lambda at: RevisionRef(revision=line[at], label=f"commit {at}"),
    ):
        name, content = segments.encode(run)
        (folder / name).write_bytes(content)
    ended = place.pr(budget="10s")
    assert ended.code == 0 and ended.report is not None, ended.said
    assert ended.report["history"]["source"] == "directory" and ended.report["history"]["measurements"] > 0
    assert "worse in cpu (beta) since `commit 2`" in ended.notes
    assert all(effect["prior"] is not None for effect in ended.report["effects"] if effect["metric"] == "cpu")
