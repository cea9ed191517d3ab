"""What a night knows of the assertions at its tip before it measures anything."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from bot.compose.nightly_assertions import with_asserting
from bot.compose.nights import AskedNight
from bot.compose.ranging import Opened
from bot.flows.nights.job import NightJob
from bot.model.revisions import Revision
from bot.settings import Settings
from tests.flows.nights import MemoryStore, Moving, job
from tests.flows.test_night_profiles import FakeProfiler, teaching


class AtTheTip:
    """A repository whose tip has this file of assertions."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    def read_file(self, revision: Revision, path: str) -> str | None:
        assert revision.label == "v3" and path == ".github/suspects.assertions.yml"
        return self.text


def asserting(text: str | None) -> NightJob:
    run = SimpleNamespace(stack=ExitStack())
    opened = cast("Opened", SimpleNamespace(repository=AtTheTip(text), run=run))
    one = replace(job(Moving(), MemoryStore(), 3), teaching=teaching(FakeProfiler()))
    return with_asserting(AskedNight(Settings.read({}), writes=False), opened, one)


def test_what_is_wrong_in_the_file_is_told_whether_or_not_a_trial_fits_the_budget() -> None:
    found = asserting("version: 1\nassertions: 5\n")
    assert found.asserting is None
    assert found.notes[-1].startswith(
        "No assertion was mined: v3:.github/suspects.assertions.yml:2: assertions: "
    )


@pytest.mark.parametrize("text", [None, "", "version: 1\nassertions: []\n"])
def test_without_an_error_in_the_file_some_of_the_time_is_for_mining(text: str | None) -> None:
    found = asserting(text)
    assert found.asserting is not None and found.asserting.file.text == (text or "") and not found.notes
