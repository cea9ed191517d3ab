"""`suspects publish`: posts what an unprivileged run measured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TypeAlias

from bot.adapters.documents.accepted_file import read_accepted
from bot.adapters.documents.subject_file import read_subject
from bot.commands.init import CONFIG
from bot.flows.publish import Artifacts, Forge, Outcome, Render, Requested, Trusted, publish
from bot.model.errors import UsageError
from bot.settings import Settings

Connect: TypeAlias = Callable[[str, str], AbstractContextManager[tuple[Forge, Artifacts]]]
"""(repository, token) -> the ports, while open; the composition root knows the adapters."""


def publish_command(
    settings: Settings,
    *,
    run_id: int,
    connect: Connect,
    render: Render,
    repository: str | None = None,
    requested: Requested | None = None,
) -> Outcome:
    """Publishes one run's result on its pull request, with the settings' `comment`, `config` and `fail-on`.

    repository: owner/name; None: GITHUB_REPOSITORY. requested: what a dispatched run was asked for.

    Raises:
        UsageError: no repository or no token is known.
        ArtifactError: the artifact is not what a measuring run leaves.
        ForgeError: GitHub refused or did not answer.
    """
    where = repository or settings.repository
    if where is None:
        raise UsageError("which repository? give --repository owner/name")
    with connect(where, token(settings)) as (forge, artifacts):
        return publish(
            forge,
            artifacts,
            repository=where,
            run_id=run_id,
            render=render,
            trusted=Trusted(
                path=(settings.inputs.config or CONFIG).as_posix(),
                read=lambda text, name: read_subject(text, name=name, directory=None),
                accepted=lambda text, name: read_accepted(text, name=name),
                today=datetime.now(UTC).date(),
                address=settings.address(where),
            ),
            policy=settings.inputs.comment,
            fail_on=settings.inputs.fail_on,
            requested=requested,
        )


def token(settings: Settings) -> str:
    """The token to speak with.

    Raises:
        UsageError: there is none.
    """
    if settings.github_token is None:
        raise UsageError("no token: set the input github-token (or GITHUB_TOKEN in a shell)")
    return settings.github_token
