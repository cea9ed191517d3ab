"""A fresh fake GitHub for each test, and the adapters that speak to it without waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from bot.adapters.github.artifacts import GithubArtifacts, Insistence
from bot.adapters.github.checks import GithubChecks
from bot.adapters.github.forge import Patience
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub


@pytest.fixture
def github() -> Iterator[FakeGithub]:
    """The fake; at the end every exchange must have been one that GitHub describes."""
    fake = FakeGithub()
    yield fake
    fake.close()


@pytest.fixture
def waited() -> list[float]:
    """The seconds our own code wanted to wait."""
    return []


@pytest.fixture
def forge(github: FakeGithub, waited: list[float]) -> Iterator[Callable[..., GithubChecks]]:
    """A forge for a token; back-off is zero where the transport sleeps, and recorded where we do."""
    patience = Patience(backoff=0, secondary_wait=0, pause=waited.append)

    with ExitStack() as opened:

        def speak(token: str = WORKFLOW) -> GithubChecks:
            one = GithubChecks(REPOSITORY, token, api_url=github.api.url, patience=patience)
            return opened.enter_context(one)

        yield speak


@pytest.fixture
def artifacts(github: FakeGithub, waited: list[float]) -> Iterator[GithubArtifacts]:
    """The artifacts of the fake."""
    insistence = Insistence(pause=waited.append)
    with GithubArtifacts(REPOSITORY, WORKFLOW, api_url=github.api.url, insistence=insistence) as speaking:
        yield speaking
