"""A fresh fake GitHub for each test, and the adapters that speak to it without waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bot.adapters.artifacts import GithubArtifacts, Insistence
from bot.adapters.github import GithubForge, Patience
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
def forge(github: FakeGithub, waited: list[float]) -> Callable[..., GithubForge]:
    """A forge for a token; back-off is zero where the transport sleeps, and recorded where we do."""
    patience = Patience(backoff=0, secondary_wait=0, pause=waited.append)

    def speak(token: str = WORKFLOW) -> GithubForge:
        return GithubForge(REPOSITORY, token, api_url=github.api.url, patience=patience)

    return speak


@pytest.fixture
def artifacts(github: FakeGithub, waited: list[float]) -> Iterator[GithubArtifacts]:
    """The artifacts of the fake."""
    insistence = Insistence(pause=waited.append)
    speaking = GithubArtifacts(REPOSITORY, WORKFLOW, api_url=github.api.url, insistence=insistence)
    yield speaking
    speaking.close()
