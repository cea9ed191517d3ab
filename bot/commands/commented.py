"""Obeys a comment in the job of an `issue_comment` event, with the adapters that it speaks through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from bot.adapters.runner import Runner
from bot.event import Plan
from bot.model.errors import UsageError
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.adapters.github.artifacts import Insistence
    from bot.adapters.github.forge import Patience
    from bot.adapters.github.talk import GithubTalk
    from bot.flows.conversation.accepted_proposals import Acceptor
    from bot.flows.nights.proposing import Proposals
    from bot.model.comment_commands import SaidComment
    from bot.model.forge import PullRequest

BRANCH = "suspects/accepted-{number}"
"""Of the change that accepts what a pull request reports: one branch for each."""


def commented(settings: Settings, runner: Runner, plan: Plan) -> int:
    """Does what the comment asks for, and tells the log how it ended.

    Raises:
        UsageError: the runner does not say which repository, or there is no token.
        ForgeError: GitHub refused or did not answer.
    """
    from bot.flows.conversation.commands import obey

    assert plan.said is not None
    with speaking(settings, plan.said) as (talk, acceptor):
        obeyed = obey(talk, plan.said, acceptor.accepting)
    runner.annotate("notice", f"{obeyed.ending}: {obeyed.reason}")
    runner.output("comment-url", obeyed.url or "")
    return 0


@contextmanager
def speaking(
    settings: Settings,
    said: SaidComment,
    patience: Patience | None = None,
    insistence: Insistence | None = None,
) -> Iterator[tuple[GithubTalk, Acceptor]]:
    """What a comment is obeyed with, open. Raises UsageError as `commented`."""
    from bot.adapters.documents.accepted_file import read_accepted, with_entry
    from bot.adapters.github.artifacts import GithubArtifacts
    from bot.adapters.github.proposals import GithubProposals
    from bot.adapters.github.talk import GithubTalk
    from bot.commands.publish import token
    from bot.flows.conversation.accepted_proposals import AcceptedFile, Acceptor

    if settings.repository is None:
        raise UsageError("GITHUB_REPOSITORY is needed to answer a comment")
    found, url = (settings.repository, token(settings)), settings.api_url
    with ExitStack() as opened:
        silent = settings.inputs.comment == "never"
        talk = opened.enter_context(GithubTalk(*found, silent=silent, api_url=url, patience=patience))

        def proposals(pull: PullRequest) -> Proposals:
            where = {"branch": BRANCH.format(number=pull.number), "target": pull.base_branch}
            return opened.enter_context(GithubProposals(*found, **where, api_url=url, patience=patience))

        yield (
            talk,
            Acceptor(
                reports=talk,
                artifacts=opened.enter_context(GithubArtifacts(*found, api_url=url, insistence=insistence)),
                proposals=proposals,
                file=AcceptedFile(lambda text, name: read_accepted(text, name=name), with_entry),
                repository=settings.repository,
                said=said,
            ),
        )
