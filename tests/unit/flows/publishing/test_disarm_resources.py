"""Resources in a fork's report: numbers and our own names of counts are kept, other words are not."""

import pytest

from bot.flows.publishing.disarm import disarm
from bot.flows.publishing.disarm_resources import MOST, counted, resource
from bot.model.errors import ArtifactError
from bot.model.report_resources import ResourceCall, ResourceVolume
from tests.unit.report import resource_reports as reports
from tests.unit.report.test_comment import NAMES

HEAD = "9c6e7f10f5d06d6c3ba4f3c9f3eb0df7c7b0a7d2"


def test_what_was_counted_honestly_stays_whole() -> None:
    whole = reports.of_faults()
    shown = disarm(whole, head_sha=HEAD)
    assert shown.resources == whole.resources
    assert [one.count for one in shown.suspects.resources] == ["page_faults", "filesystem_calls"]
    assert shown.suspects.resources[0].unit == "page faults"


@pytest.mark.parametrize("words", [*NAMES, "approved by security", "https://evil.test", ""])
def test_a_strangers_words_are_shown_nowhere(words: str) -> None:
    one = reports.counted(
        reports.FAULTS.model_copy(update={"calls": (ResourceCall(name=words, base=1, head=2),)}),
        reports.CALLS.model_copy(update={"count": words, "feature": words}),
        volumes=(ResourceVolume(name=words, base=1.0, head=2.0),),
        tools=(words,),
        features=(words, "vm"),
    )
    shown = counted(one)
    suspect = resource(reports.suspect(reports.FAULTS, 0.5, unit=words, count=words))
    text = shown.model_dump_json() + suspect.model_dump_json()
    assert not words or words not in text
    assert [c.count for c in shown.counts] == ["page_faults"] and shown.counts[0].calls == ()
    assert (shown.volumes, shown.features, suspect.unit, suspect.count) == ((), ("vm",), "", "")


def test_the_tools_that_count_are_told() -> None:
    tools = ("strace 6.1", "perf trace 6.1.187", "cachegrind 3.19.0")
    assert counted(reports.counted(reports.FAULTS, tools=tools)).tools == tools


def test_a_feature_that_is_none_is_not_blamed() -> None:
    whole = reports.of_faults()
    hostile = whole.suspects.resources[0].model_copy(update={"feature": "everything"})
    suspects = whole.suspects.model_copy(update={"resources": (hostile,)})
    assert not disarm(whole.model_copy(update={"suspects": suspects}), head_sha=HEAD).suspects.resources


def test_hostile_names_of_options_are_refused() -> None:
    with pytest.raises(ArtifactError, match="names something"):
        counted(reports.counted(reports.FAULTS, options={"a b; rm -rf ~": True}))
    with pytest.raises(ArtifactError, match="names something"):
        resource(reports.suspect(reports.FAULTS, 0.5, term=("<script>",)))


def test_lists_longer_than_any_run_makes_are_refused() -> None:
    with pytest.raises(ArtifactError, match="more counts"):
        counted(reports.counted(*[reports.FAULTS] * (MOST + 1)))
