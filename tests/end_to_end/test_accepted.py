"""Changes that people accepted: read from base or beside `--config`, shown, no alarm until they expire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.end_to_end.builders import CONFIG, STEADY, STEADY_TOO, Ended, Place, config, shell
from tests.end_to_end.test_bad_data import GOOD, function
from tests.end_to_end.test_nightly import moving, night

ACCEPTED = ".github/suspects.accepted.yml"


def entry(until: str = "2999-12-31", **more: str) -> str:
    """A file that accepts the change of a term."""
    keys = {"term": "b", "metric": "cpu", "until": until, "reason": "worth it"} | more
    lines = [f"  {key}: {value}" for key, value in keys.items()]
    return "version: 1\naccepted:\n-" + "\n".join(lines)[1:] + "\n"


def simulated(place: Place, accepted: str) -> Ended:
    """`pr --fail-on regression` on a head where b became 30 % slower."""
    (place.out / "suspects.accepted.yml").write_text(accepted)
    return function(place, GOOD, "--fail-on", "regression")


def test_an_accepted_slow_down_is_shown_and_fails_nothing(place: Place) -> None:
    ended = simulated(place, entry())
    assert ended.report is not None and (ended.code, ended.report["verdict"]) == (0, "none"), ended.said
    found = ended.report["suspects"]["options"][0]["accepted"]
    assert found == {"source": "file", "until": "2999-12-31", "reason": "worth it"}
    assert "Nothing slower but what was accepted" in ended.out and "Accepted until 2999-12-31" in ended.out


@pytest.mark.parametrize(
    ("accepted", "note"),
    [
        (entry("2020-01-01"), "accepted.0.until: `b` was accepted until 2020-01-01: remove the entry"),
        (entry(term="c"), "accepted.0.term: `c` is no level of this program: correct or remove"),
        (entry(at_most="20%"), ""),
        (entry(metric="wall"), ""),
        (entry("soon"), "suspects.accepted.yml:5: accepted.0.until: input should be a valid date"),
    ],
)
def test_what_is_expired_wrong_or_larger_alarms_and_says_why(place: Place, accepted: str, note: str) -> None:
    ended = simulated(place, accepted)
    assert ended.code == 1 and note in ended.notes, ended.said


def test_check_says_what_is_wrong_with_the_file(place: Place) -> None:
    path = moving(place)
    for text, note in (
        (entry("soon"), "suspects.accepted.yml:5: accepted.0.until"),
        (entry("2020-01-01"), "`b` was accepted until 2020-01-01"),
    ):
        path.with_name("suspects.accepted.yml").write_text(text)
        ended = place.suspects("check", "--config", str(path), cwd=path.parent)
        assert ended.code == 0 and note in ended.said, ended.said


def test_base_decides_what_is_accepted_and_a_change_of_it_is_announced(place: Place) -> None:
    place.commit({CONFIG: config(), "program.sh": STEADY, ACCEPTED: entry(term="gone")})
    place.commit({"program.sh": STEADY_TOO, ACCEPTED: entry(term="alpha")})
    notes = place.pr().notes
    assert f"{ACCEPTED} differs at head: base's was used; the change counts after merge." in notes
    assert "`gone` is no level of this program" in notes


def test_a_broken_file_at_base_is_one_line_and_stops_nothing(place: Place) -> None:
    place.commit({CONFIG: config(), "program.sh": STEADY, ACCEPTED: "version: 1\naccepted: {}\n"})
    place.commit({"program.sh": STEADY_TOO})
    ended = place.pr()
    assert ended.report is not None and ended.report["spent"]["pairs"] > 0
    assert f"{ACCEPTED}:2: accepted: input should be a valid list." in ended.notes, ended.notes


def test_a_night_is_not_alarmed_by_what_was_accepted(place: Place) -> None:
    path = moving(place, since=47)
    night(place, path, "--head", "40")
    path.with_name("suspects.accepted.yml").write_text(entry(term="a+c"))
    ended = night(place, path, "--head", "52", "--fail-on", "regression")
    assert ended.code == 0 and ended.report is not None, ended.said
    (point,) = ended.report["change_points"]
    assert point["term"] == ["a", "c"] and point["accepted"]["reason"] == "worth it"
    assert ended.report["verdict"] in ("none", "inconclusive")
    assert "Nothing slower but what was accepted" in ended.out and "accepted until 2999-12-31" in ended.out


def measured(place: Place, event: str, payload: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The action in an event's job, on a head that computes three times as long; its report."""
    path = place.out / "event.json"
    path.write_text(json.dumps(payload))
    environ = {
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_WORKSPACE": str(place.repository),
        "GITHUB_REPOSITORY": "o/r",
        "INPUT_COMMENT": "never",
        "INPUT_BUDGET": "30s",
        "INPUT_FAIL-ON": "regression",
    }
    ended = place.finish(place.start("action", env=environ), clean=False)
    report = json.loads((place.repository / "suspects-report/report.json").read_text())
    return ended.code, report


def slower(place: Place) -> tuple[str, str]:
    base = place.commit({CONFIG: config(run_on={"labels": ["perf"]}), "program.sh": STEADY})
    return base, place.commit({"program.sh": shell("# slow", turns="6000")})


def test_the_label_accepts_all_that_its_pull_request_makes_worse(place: Place) -> None:
    base, head = slower(place)
    sides = {
        name: {"sha": sha, "repo": {"full_name": "o/r"}} for name, sha in (("base", base), ("head", head))
    }
    labels = [{"name": "perf"}, {"name": "suspects: accepted"}]
    pull = {"number": 1, "draft": False, "state": "open", "labels": labels, **sides}
    code, report = measured(place, "pull_request", {"action": "opened", "pull_request": pull})
    assert (code, report["verdict"]) == (0, "none")
    assert report["suspects"]["options"][0]["accepted"]["source"] == "label"


def test_a_dispatched_rerun_measures_the_ids_that_it_was_given_whatever_run_on_says(place: Place) -> None:
    base, head = slower(place)
    place.commit({"program.sh": STEADY})  # what is checked out now is something else
    inputs = {"pull_request": "1", "base": base, "head": head, "budget": "30s"}
    dispatch = {"ref": "refs/heads/main", "repository": {"default_branch": "main"}, "inputs": inputs}
    code, report = measured(place, "workflow_dispatch", dispatch)
    assert (code, report["verdict"]) == (1, "regression")
    assert (report["base"]["revision"], report["head"]["revision"]) == (base, head)
