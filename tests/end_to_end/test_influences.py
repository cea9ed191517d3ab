"""`suspects influences` on a prepared history: what a person sees, and what is refused."""

from __future__ import annotations

import json

import pytest

from bot.adapters.stores import segments
from bot.model.subject import Subject
from tests.end_to_end.builders import CONFIG, Place
from tests.flows.test_call_context import CONFIGURATIONS, interrupted, watched
from tests.profiled import SUBJECT, drawn, night

OWN = ".suspects/history"


def shop(place: Place, *, configurations: int = 60) -> None:
    """A repository whose history has profiles of its program."""
    write(place, SUBJECT)
    name, content = segments.encode(night(0, drawn(configurations), noise=0.02))
    (place.repository / OWN).mkdir(parents=True)
    (place.repository / OWN / name).write_bytes(content)


def write(place: Place, subject: Subject) -> None:
    path = place.repository / CONFIG
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(subject.model_dump_json(exclude_defaults=True, by_alias=True))


def test_options_and_their_methods_are_shown(place: Place) -> None:
    shop(place)
    ended = place.suspects("influences")
    assert ended.code == 0
    heads = [line for line in ended.out.splitlines() if line and not line.startswith(" ")]
    assert heads[0].startswith("Whole program")
    assert any(line.startswith("fancy") for line in heads)
    assert "shop.ui:draw" in ended.out and "100" in ended.out
    assert "Note: Learnt from 60 profiled configurations at 1 revision" in ended.err


def test_one_option_and_one_method_are_shown_alone(place: Place) -> None:
    shop(place)
    fancy = place.suspects("influences", "--option", "fancy").out
    assert "shop.ui:draw" in fancy and "tax" not in fancy
    price = place.suspects("influences", "--method", "price").out
    assert price.startswith("shop.cart:price") and "tax" in price and "shop.ui:draw" not in price
    place.suspects("influences", "--option", "colour").refused("there is no such option; there are tax")


def test_json_has_the_entries_of_a_report(place: Place) -> None:
    shop(place)
    ended = place.suspects("influences", "--json", str(place.out / "i.json"), "-q")
    assert ended.code == 0 and not ended.said
    found = json.loads((place.out / "i.json").read_text())
    entry = next(i for i in found["influences"] if i["method"] == "shop.ui:draw" and i["term"] == ["fancy"])
    assert entry["interval"][0] < 0.1 < entry["interval"][1] and entry["quantity"] == "seconds"


def test_single_calls_show_what_goes_with_slow_ones_and_what_watching_costs(place: Place) -> None:
    write(place, SUBJECT)
    (place.repository / OWN).mkdir(parents=True)
    for table in (night(0, CONFIGURATIONS, interrupted, noise=0.02), watched(12)):
        name, content = segments.encode(table)
        (place.repository / OWN / name).write_bytes(content)
    asked = place.suspects("influences", "--method", "sort").out
    assert "between the calls of a run" in asked and "slow calls go with their arguments" in asked
    assert "n=int 900" in asked and "What profiling costs" not in asked
    found = json.loads(place.suspects("influences", "--json", "-", "-q").out)
    (sort,) = found["variations"]
    assert sort["method"] == "shop.sorting:sort" and 0.75 < sort["context"] < 0.85
    assert sort["factors"][0]["slowest"][0]["value"] == "n=int 900"
    (profiler,) = found["profilers"]
    assert (profiler["tool"], profiler["configurations"]) == ("fake 1", 12)
    assert "What profiling costs\nfake 1: 1.20 times" in place.suspects("influences").out


def test_the_published_pipeline_is_shown_too(place: Place) -> None:
    shop(place)
    assert "shop.ui:draw" in place.suspects("influences", "--estimator", "published").out
    place.suspects("influences", "--estimator", "best").refused("published is allowed")


@pytest.mark.parametrize("configurations", [0, 5])
def test_a_history_with_too_little_says_what_to_run(place: Place, configurations: int) -> None:
    if configurations:
        shop(place, configurations=configurations)
    else:
        write(place, SUBJECT)
    place.suspects("influences").refused("suspects nightly", code=3)


def test_without_a_configuration_file_there_is_nothing_to_ask_about(place: Place) -> None:
    place.suspects("influences").refused("suspects.yml")


def test_a_cluster_that_does_not_answer_is_one_line(place: Place) -> None:
    shop(place)
    away = SUBJECT.model_copy(
        update={"analysis": SUBJECT.analysis.model_copy(update={"backend": "dask://127.0.0.1:9"})}
    )
    write(place, away)
    place.suspects("influences").refused("no Dask scheduler answers")
