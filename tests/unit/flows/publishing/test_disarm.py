"""A fork's report as the trusted side shows it: figures and harmless names are kept."""

import pytest

from bot.flows.publishing.disarm import disarm
from bot.model.errors import ArtifactError
from bot.model.report import Suspects
from tests.unit.report import builders

HEAD = "a" * 40


def test_who_is_spared_is_told_of_a_forks_report_too() -> None:
    whole = builders.spared()
    shown = disarm(whole, head_sha=HEAD)
    assert shown.suspects.options == whole.suspects.options
    assert shown.effects == whole.effects


def test_a_spared_term_with_hostile_words_is_refused() -> None:
    hostile = builders.effect(ratio=0.952, spared=(("[click](https://example.org)",),))
    with pytest.raises(ArtifactError, match="no option, level or metric"):
        disarm(builders.report(suspects=Suspects(options=(hostile,))), head_sha=HEAD)
