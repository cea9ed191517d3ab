"""Answers that are no answers, and what PyGithub and requests raise, as one line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import requests
from github import Github
from github.GithubException import BadAttributeException, GithubException, RateLimitExceededException

from bot.model.errors import ForgeError, ForgeRefusedError

_UNREADABLE = (
    requests.exceptions.InvalidJSONError,  # a proxy's page
    BadAttributeException,
    AssertionError,  # a field that is missing or of another type: PyGithub asserts what it is given
    AttributeError,
    KeyError,
    TypeError,
)


def json_only(github: Github) -> Github:
    """The client, made to refuse pages of proxies and empty objects.

    PyGithub takes any 200 for a write that was done, and an object without fields for a list without entries.
    """
    ask = github.requester.requestJson

    def checked(*args: Any, **more: Any) -> tuple[int, dict[str, Any], str]:
        status, headers, output = ask(*args, **more)
        told = output.strip() and status < HTTPStatus.MULTIPLE_CHOICES
        if told and ("json" not in headers.get("content-type", "") or output.strip() == "{}"):
            raise requests.exceptions.InvalidJSONError("an answer that says nothing")
        return status, headers, output

    github.requester.requestJson = checked  # type: ignore[method-assign]
    return github


@contextmanager
def speaking(doing: str, *, needs: str) -> Iterator[None]:
    """Turns what PyGithub and requests raise into one line that says what to do."""
    try:
        yield
    except GithubException as error:
        raise _told(error, doing, needs) from error
    except _UNREADABLE as error:
        raise ForgeError(f"{doing}: GitHub's answer could not be read") from error
    except requests.RequestException as error:
        raise ForgeError(f"{doing}: GitHub did not answer ({type(error).__name__})") from error


def _told(error: GithubException, doing: str, needs: str) -> ForgeError:
    data = error.data if isinstance(error.data, dict) else {}
    said = " ".join(str(data.get("message") or error.message or "no reason given").split())[:200]
    limited = isinstance(error, RateLimitExceededException)
    if error.status == HTTPStatus.UNAUTHORIZED:
        return ForgeRefusedError(f"{doing}: GitHub does not accept the token ({said})")
    if error.status == HTTPStatus.FORBIDDEN and not limited:
        return ForgeRefusedError(f"{doing}: the token lacks the permission `{needs}` ({said})")
    if error.status == HTTPStatus.NOT_FOUND:
        return ForgeRefusedError(f"{doing}: not found, or the token lacks the permission `{needs}`")
    return ForgeError(f"{doing}: GitHub answered {error.status} ({said})")
