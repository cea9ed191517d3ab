"""Issues on GitHub: those that we opened, found again by their marker, and new ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Self

from bot.adapters.github.errors import speaking
from bot.adapters.github.forge import GithubForge
from bot.model.forge import Issue

MOST_READ = 500
"""The newest issues and pull requests among which ours are looked for."""


class GithubIssues(GithubForge):
    """The port `Issues` on GitHub's REST API."""

    def __enter__(self) -> Self:
        return self

    def ours(self, marker: str) -> Sequence[Issue]:
        """Our issues, open or closed, whose text begins with a marker; newest first.

        The marker alone proves nothing: anyone can write it.

        Raises:
            ForgeError: GitHub refused or did not answer.
        """
        with speaking("looking for our issues", needs="issues: read"):
            every = self._repo.get_issues(state="all", sort="created", direction="desc")
            return [
                Issue(issue.html_url, issue.body)
                for issue in islice(every, MOST_READ)
                if (issue.body or "").startswith(marker) and issue.user.login == self._login
            ]

    def open_issue(self, title: str, body: str) -> Issue:
        """Opens an issue, once: what was lost on the way is looked for before the next night opens it again.

        Raises:
            ForgeRefusedError: the token may not, or issues are disabled.
            ForgeError: GitHub did not answer.
        """
        with speaking("opening an issue", needs="issues: write"):
            issue = self._repo.create_issue(title=title, body=body)
            return Issue(issue.html_url, body)
