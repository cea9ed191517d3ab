"""`suspects nightly` proposes assertions of a real program until they are taken over, then nothing more."""

from __future__ import annotations

from tests.end_to_end.builders import CONFIG, Ended, Place, config
from tests.end_to_end.test_assertions import FILE, RUNTIMES, text


def night(place: Place) -> Ended:
    ended = place.suspects(
        "nightly", "--budget", "400s", "--json", str(place.out / "report.json"),
        "--markdown", str(place.out / "report.md"),
    )  # fmt: skip
    assert ended.code == 0 and ended.report is not None, ended.said
    return ended


def test_a_night_proposes_what_the_next_does_not_once_it_was_taken_over(place: Place) -> None:
    name, _, keys, _, turns = RUNTIMES["python"]
    options = {"verbose": {"flag": "--verbose"}}
    settings = config(program={"runtime": "python", **keys}, options=options, overhead="50%")
    place.commit({CONFIG: settings, name: text("python", fast=turns, slow=30 * turns)})
    place.commit({"README": "nothing that runs"})
    first = night(place)
    assert first.report is not None
    proposed = first.report["proposed_assertions"]
    (entry,) = [e for e in proposed["entries"] if e["method"].endswith("read")]
    assert entry["change"] == "new" and entry["id"] in proposed["text"], first.notes
    assert "load" in entry["table"] or "save" in entry["table"]
    told = (place.out / "report.md").read_text()
    assert "Performance assertions to review" in told and f"+- id: {entry['id']}" in told
    kept = place.suspects("history", "list", "--json", "-")
    assert "durations" in kept.out
    place.commit({FILE: proposed["text"]})
    second = night(place)
    assert second.report is not None and second.report["proposed_assertions"]["entries"] == [], second.notes
    assert "their assertions stay as they are" in second.notes
