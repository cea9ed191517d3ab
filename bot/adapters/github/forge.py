"""GitHub through PyGithub: pull requests, runs, and one comment that is edited in place."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import TypeVar

import requests
from github import Auth, Github
from github.GithubException import GithubException, RateLimitExceededException, UnknownObjectException
from github.GithubRetry import GithubRetry
from github.IssueComment import IssueComment
from github.PullRequest import PullRequest as GithubPull
from urllib3 import BaseHTTPResponse

from bot.adapters.github.comment_answers import answers
from bot.adapters.github.errors import json_only, speaking
from bot.model.errors import ForgeError
from bot.model.forge import Placed, PullRequest, Stamp, WorkflowRun

_T = TypeVar("_T")
_R = TypeVar("_R")
WORKFLOW_TOKEN_LOGIN = "github-actions[bot]"  # a name, no password # noqa: S105
"""Who a workflow's own token writes as; it may not ask GitHub for its own name."""
_COMMENT_LIMIT = 65_536  # characters, GitHub's own
_MARKER = re.compile(
    r"<!-- suspects (?P<key>[\w.-]+) run=(?P<run>\d+) attempt=(?P<attempt>\d+) head=(?P<head>\w*) -->"
)

# PyGithub prints each refusal; what matters of them is told by us.
logging.getLogger("github").setLevel(logging.WARNING)


@dataclass(frozen=True)
class Patience:
    """How long to insist: tries after the first, seconds of back-off (doubling), the longest single wait.

    timeout: seconds without a word from GitHub after which a request is given up.
    """

    tries: int = 5
    timeout: int = 30
    backoff: float = 1.0
    secondary_wait: float = 60.0
    longest_wait: float = 300.0
    pause: Callable[[float], None] = time.sleep


class _BoundedRetry(GithubRetry):
    """GithubRetry that refuses to sleep longer than allowed when GitHub names the time itself."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        seconds = super().get_retry_after(response)
        if (
            seconds is not None
            and self.max_rate_limit_wait is not None
            and seconds > self.max_rate_limit_wait
        ):
            raise ForgeError(f"GitHub asks to wait {seconds:.0f} s, longer than this run will")
        return seconds


@dataclass(frozen=True)
class _Own:
    """A comment of ours; `comment` is only asked to edit or delete itself."""

    comment: IssueComment
    url: str
    body: str
    stamp: Stamp


class GithubForge:
    """The port `Forge` on GitHub's REST API.

    GET and PATCH are repeated by the transport; POST never is, because a 502 may come after it was applied:
    we look for our marker first and post only when it is missing.
    """

    def __init__(
        self,
        repository: str,
        token: str,
        *,
        api_url: str = "https://api.github.com",
        login: str | None = None,
        patience: Patience | None = None,
    ) -> None:
        """`login`: who the token writes as, when known (None: asked, else the workflow token's name)."""
        self._patience = patience or Patience()
        self._token, self._api_url = token, api_url
        self._github = self._client({"GET", "PATCH"})
        self._repository = repository
        self._repo = self._github.get_repo(repository)
        self._known_login = login

    def _client(self, repeated: set[str]) -> Github:
        """A client whose transport repeats these methods by itself."""
        retry = _BoundedRetry(
            total=self._patience.tries,
            backoff_factor=self._patience.backoff,
            secondary_rate_wait=self._patience.secondary_wait,
            max_rate_limit_wait=self._patience.longest_wait,
            allowed_methods=repeated,
            status_forcelist=[429, *range(500, 600)],
        )
        return json_only(
            Github(
                auth=Auth.Token(self._token),
                base_url=self._api_url,
                per_page=100,
                timeout=self._patience.timeout,
                lazy=True,
                retry=retry,
                seconds_between_requests=0,
                seconds_between_writes=0,
            )
        )

    def __enter__(self) -> GithubForge:
        return self

    def __exit__(self, *_: object) -> None:
        self._github.close()

    def run(self, run_id: int) -> WorkflowRun:
        """A workflow run by its id."""
        with speaking(f"reading run {run_id}", needs="actions: read"):
            run = self._repo.get_workflow_run(run_id).raw_data
            return WorkflowRun(
                id=run["id"],
                attempt=run["run_attempt"],
                event=run["event"],
                conclusion=run["conclusion"],
                head_sha=run["head_sha"],
                head_branch=run["head_branch"],
                head_repository=(run["head_repository"] or {}).get("full_name"),
            )

    def pull_request(self, number: int) -> PullRequest:
        """A pull request as it is now."""
        with speaking(f"reading #{number}", needs="pull-requests: read"):
            return converted_pull(self._repo.get_pull(number))

    def pull_requests(self, *, owner: str, branch: str) -> tuple[PullRequest, ...]:
        """Open pull requests whose head is this branch of this owner."""
        with speaking(f"looking for pull requests of {owner}:{branch}", needs="pull-requests: read"):
            found = self._repo.get_pulls(state="open", head=f"{owner}:{branch}")
            return tuple(converted_pull(pull) for pull in found)

    def merge_base(self, base: str, head: str) -> str:
        """The merge base of two commits, as GitHub finds it."""
        with speaking(f"comparing {base[:12]} with {head[:12]}", needs="contents: read"):
            return self._repo.compare(base, head).merge_base_commit.sha

    def file(self, path: str, revision: str) -> str | None:
        """The text of a file at a revision; None: there is none, or it is no text."""
        with speaking(f"reading {path} at {revision[:12]}", needs="contents: read"):
            try:
                found = self._repo.get_contents(path, ref=revision)
                if isinstance(found, list) or found.type in ("dir", "submodule", "symlink"):
                    return None
                return found.decoded_content.decode("utf-8")
            except (UnknownObjectException, UnicodeDecodeError):
                return None

    def place(
        self, number: int, body: str, stamp: Stamp, *, key: str = "pull-request", create: bool = True
    ) -> Placed:
        """Makes `body` our one comment with this `key` on a pull request, unless a newer run's stands there.

        create: whether to post when none stands there. Safe to repeat, and after an answer that was lost.

        Raises:
            ForgeRefusedError: the token may not comment.
            ForgeError: GitHub did not answer after all tries, or the comment is too long.
        """
        marker = f"suspects {key} run={stamp.run_id} attempt={stamp.attempt} head={stamp.head_sha}"
        text = f"<!-- {marker} -->\n{body.rstrip()}"
        if len(text) > _COMMENT_LIMIT:
            raise ForgeError(f"a comment of {len(text)} characters is over GitHub's {_COMMENT_LIMIT}")
        with speaking(f"commenting on #{number}", needs="pull-requests: write"):
            own = self._own(number, key)
            if own:
                return self._settle(own, text=text, stamp=stamp)
            if not create:
                return Placed("absent")
            posted = self._post(number, text, key=key)
            # Another run may have posted in the meantime: look again, so that one comment remains.
            placed = self._settle(self._own(number, key) or [posted], text=text, stamp=stamp)
            return Placed("created", placed.url) if placed.placing == "unchanged" else placed

    @cached_property
    def _login(self) -> str:
        """Who the token writes as."""
        try:
            login: str | None = self._known_login or self._github.get_user().login
            if not login:
                raise TypeError("an answer without a name")
            return login
        except GithubException as error:
            if error.status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
                return WORKFLOW_TOKEN_LOGIN
            raise

    def _own(self, number: int, key: str) -> list[_Own]:
        """Our comments with this key, oldest first; the marker alone proves nothing: anyone can write it."""
        comments = self._repo.get_issue(number).get_comments()
        return [own for comment in comments if (own := _converted(comment, self._login, key))]

    def _settle(self, own: list[_Own], *, text: str, stamp: Stamp) -> Placed:
        """Leaves one comment, the oldest, with the newest run's words, and the answers that stand there."""
        first, *extras = own
        text += next((found for one in own if (found := answers(one.body))), "")
        if any(later(one.stamp, stamp) for one in own):
            return Placed("outdated", first.url)
        if first.body != text:
            first.comment.edit(text)
        for extra in extras:
            with suppress(UnknownObjectException):  # its own writer was faster
                extra.comment.delete()
        return Placed("unchanged" if first.body == text else "edited", first.url)

    def _post(self, number: int, text: str, *, key: str) -> _Own:
        """Posts once: after each doubtful answer it looks for the marker before it posts again."""
        issue = self._repo.get_issue(number)
        return self._insist(
            lambda own: own[-1] if own else _ours(issue.create_comment(text)),
            before=list[_Own](),
            look=lambda: self._own(number, key),
        )

    def _insist(self, act: Callable[[_T], _R], *, before: _T, look: Callable[[], _T]) -> _R:
        """Acts on what stands there, which it looks for again after each doubtful answer."""
        standing = before
        for attempt in range(self._patience.tries + 1):
            try:
                return act(standing)
            except (GithubException, requests.RequestException) as error:
                wait = self._wait(error, attempt)
                if wait is None or attempt == self._patience.tries:
                    raise
            self._patience.pause(wait)
            standing = look()
        raise AssertionError("the last attempt returns or raises")

    def _wait(self, error: Exception, attempt: int) -> float | None:
        """Seconds until it makes sense to try again; None: never."""
        backoff: float = self._patience.backoff * 2**attempt
        if not isinstance(error, GithubException) or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return backoff
        limited = (
            isinstance(error, RateLimitExceededException) or error.status == HTTPStatus.TOO_MANY_REQUESTS
        )
        if not limited:
            return None
        named = (error.headers or {}).get("retry-after", "")
        wait = float(named) if named.isdigit() else self._patience.secondary_wait
        return max(wait, backoff) if wait <= self._patience.longest_wait else None


def later(one: Stamp, other: Stamp) -> bool:
    """Whether a run or attempt is newer than another."""
    return (one.run_id, one.attempt) > (other.run_id, other.attempt)


def _ours(comment: IssueComment) -> _Own:
    match = _MARKER.match(comment.body)
    assert match is not None
    stamp = Stamp(int(match["run"]), int(match["attempt"]), match["head"])
    return _Own(comment, comment.html_url, comment.body, stamp)


def _converted(comment: IssueComment, login: str, key: str) -> _Own | None:
    match = _MARKER.match(comment.body or "")
    author = comment.user.login if comment.user else None
    return _ours(comment) if match and match["key"] == key and author == login else None


def converted_pull(pull: GithubPull) -> PullRequest:
    """A pull request of PyGithub's as ours."""
    source = pull.head.repo
    return PullRequest(
        number=pull.number,
        open=pull.state == "open",
        base_sha=pull.base.sha,
        head_sha=pull.head.sha,
        head_repository=source.full_name if source else None,
        base_branch=pull.base.ref,
        head_branch=pull.head.ref,
        labels=tuple(label.name for label in pull.labels),
    )
