"""`suspects profiles` on a prepared history: what a person sees, and what is refused."""

from __future__ import annotations

import json
import shutil

import pytest

from bot.adapters.stores import segments
from bot.adapters.terminal import QuietProgress
from bot.compose.machines import fingerprinted
from tests.end_to_end.builders import CONFIG, Place
from tests.flows.fleets import BASE, HEAD, SUBJECT, Fleet
from tests.flows.nights import MemoryStore

OWN = ".suspects/history"
NEEDS = {"cache": 0.7, "sock": 0.3}


def fleet(place: Place, machines: int = 14) -> None:
    """A repository whose program ran at two revisions on unlike machines."""
    found = Fleet(machines)
    found.fingerprint()
    found.measure(NEEDS, BASE)
    found.measure({**NEEDS, "msync": 0.4}, HEAD, days=2.0)
    path = place.repository / CONFIG
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SUBJECT.model_dump_json(exclude_defaults=True, by_alias=True))
    (path.parent / "m.py").write_text("")  # nothing is simulated here
    (place.repository / OWN).mkdir(parents=True)
    for table in (*found.store.runs, *found.store.fingerprinted):
        name, content = segments.encode(table)
        (place.repository / OWN / name).write_bytes(content)


def test_the_profile_is_shown_with_errors_clusters_classes_and_factors(place: Place) -> None:
    fleet(place)
    ended = place.suspects("profiles")
    assert ended.code == 0, ended.said
    lines = ended.out.splitlines()
    assert lines[0] == "Utilisation profile of v2 (cpu) over 14 machines of 14 types of hardware"
    assert "cache [cache]" in lines[2] and "of draws" in lines[2]
    assert any(line.startswith("by class: cache") for line in lines)
    assert any(line.startswith("in terms of factors: ") for line in lines)


def test_two_revisions_are_compared_and_the_page_has_bars_in_the_colours_of_classes(place: Place) -> None:
    fleet(place)
    page = place.out / "profile.html"
    ended = place.suspects("profiles", "--base", "v1", "--head", "v2", "--html", str(page))
    assert "v1 -> v2" in ended.out and "what moved goes with msync [vm]: +" in ended.out
    text = page.read_text()
    assert text.count("<svg") == 2 and "#56b4e9" in text and "<script" not in text
    assert "what moved goes with msync" in text and "processor 3, 4 cores" in text


def test_json_has_everything_and_standard_output_nothing_else(place: Place) -> None:
    fleet(place)
    ended = place.suspects("profiles", "--base", "v1", "--head", "v2", "--json", "-", "-q")
    found = json.loads(ended.out)
    assert found["profile"]["shares"][0]["stressor"] == "cache" and found["types"] == 14
    assert found["change"]["stressor"]["stressor"] == "msync" and found["published"] is None


def test_the_published_form_is_an_estimator(place: Place) -> None:
    fleet(place)
    asked = ("profiles", "--base", "v1", "--head", "v2", "--estimator", "published")
    said = place.suspects(*asked).out
    assert "Published form (gradient boosting, mean of 20 seeds)" in said
    # Whether it finds a difference, which alone is told, lies within rounding here: processors differ.


def test_fewer_than_nine_types_are_said_plainly(place: Place) -> None:
    fleet(place, 3)
    ended = place.suspects("profiles", "--base", "v1", "--head", "v2")
    assert ended.code == 0 and "No profile. 3 types of hardware are known, 9 are needed" in ended.out
    assert "Not compared. Both revisions ran on 3 types" in ended.out
    assert "Hosted runners seldom offer so many types" in ended.err and "`suspects pr` counts" in ended.err


def test_half_a_comparison_and_unknown_words_are_refused(place: Place) -> None:
    fleet(place, 2)
    place.suspects("profiles", "--base", "v1").refused("a comparison needs both")
    place.suspects("profiles", "--base", "v1", "--head", "v7").refused("v7: 0 revisions")
    place.suspects("profiles", "--estimator", "best").refused("ours or published is allowed")


def test_a_night_too_short_for_a_fingerprint_takes_none_and_one_too_short_for_a_canary_does_without() -> None:
    store = MemoryStore()
    assert fingerprinted(store, 50.0, progress=QuietProgress(), stop=lambda: False) == ((), 0.0)
    fingerprinted(store, 600.0, progress=QuietProgress(), stop=lambda: False)
    assert store.fingerprinted == []


@pytest.mark.skipif(shutil.which("stress-ng") is None, reason="stress-ng is not installed")
def test_a_machines_fingerprint_is_taken_and_kept(place: Place) -> None:
    fleet(place, 1)
    ended = place.suspects("profiles", "measure", "--repetitions", "1", "--seconds", "1", "--json", "-", "-q")
    found = json.loads(ended.out)
    assert ended.code == 0 and found["tool"].startswith("stress-ng ") and found["rates"]["cpu"][0] > 0
    shown = place.suspects("history", "show", found["run"]["id"]).out
    assert "stressed  cpu: " in shown
