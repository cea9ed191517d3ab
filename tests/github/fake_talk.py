"""What people and commands do on the fake GitHub: permissions, reactions, dispatches, runs of a workflow."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.github.serving import Answer, Request, refusal

if TYPE_CHECKING:
    from tests.github.fake import FakeGithub, Token

PEOPLE = {"ann": ("write", 5), "root": ("admin", 6), "eve": ("read", 7), "bob": ("none", 8)}
WORKFLOWS = ("suspects.yml", "suspects-rerun.yml", "suspects-bisect.yml")


class FakeTalk:
    """`people`: login -> permission and id. `dispatched`: workflow, branch and inputs, in order."""

    def __init__(self, site: FakeGithub) -> None:
        self._site = site
        self.people = dict(PEOPLE)
        self.workflows = set(WORKFLOWS)
        self.reactions: dict[int, list[tuple[str, str]]] = {}
        self.dispatched: list[tuple[str, str, dict[str, str]]] = []
        self.commits: dict[str, str] = {}

    def on(self, comment: int) -> list[str]:
        """The reactions on a comment, in order."""
        return [content for _, content in self.reactions.get(comment, [])]

    def routes(self) -> list[tuple[str, str, str, tuple[str, ...], Callable[..., Answer]]]:
        read, write = ("read", "write"), ("write",)
        return [
            ("GET", r"/pulls/(\d+)", "pull-requests", read, self.pull),
            ("POST", r"/issues/comments/(\d+)/reactions", "pull-requests", write, self.react),
            ("GET", r"/collaborators/([^/]+)/permission", "metadata", read, self.permission),
            ("GET", r"/actions/workflows/([^/]+)/runs", "actions", read, self.list_runs),
            ("POST", r"/actions/workflows/([^/]+)/dispatches", "actions", write, self.dispatch),
            ("GET", r"/commits/([^/]+)", "contents", read, self.commit),
        ]

    def pull(self, request: Request, token: Token, number: str) -> Answer:
        found = self._site.pulls.get(int(number))
        return Answer(200, self._site.whole(found)) if found else refusal(404, "Not Found")

    def react(self, request: Request, token: Token, comment: str) -> Answer:
        if not any(one["id"] == int(comment) for one in self._site.comments):
            return refusal(404, "Not Found")
        content = json.loads(request.body)["content"]
        there = self.reactions.setdefault(int(comment), [])
        known = (token.login, content) in there
        if not known:
            there.append((token.login, content))
        return Answer(200 if known else 201, self._site.example("reaction") | {"content": content})

    def permission(self, request: Request, token: Token, login: str) -> Answer:
        if unquote(login) not in self.people:
            return refusal(404, f"{login} is not a user")
        permission, identity = self.people[unquote(login)]
        answer = self._site.example(
            "repository-collaborator-permission-response-if-user-has-admin-permissions"
        )
        answer |= {"permission": permission, "role_name": permission}
        answer["user"] |= {"login": unquote(login), "id": identity, "role_name": permission}
        return Answer(200, answer)

    def list_runs(self, request: Request, token: Token, workflow: str) -> Answer:
        if workflow not in self.workflows:
            return refusal(404, "Not Found")
        assert request.query["event"] == "pull_request"
        branch = request.query["branch"]
        found = [
            run
            for run in reversed(self._site.runs.values())
            if (run["event"], run["head_branch"]) == ("pull_request", branch)
        ]
        page, headers = self._site.page(request, found)
        return Answer(200, {"total_count": len(found), "workflow_runs": page}, headers)

    def dispatch(self, request: Request, token: Token, workflow: str) -> Answer:
        asked: dict[str, Any] = json.loads(request.body)
        if workflow not in self.workflows:
            return refusal(404, "Not Found")
        self.dispatched.append((workflow, asked["ref"], asked["inputs"]))
        if not asked.get("return_run_details"):
            return Answer(204)
        begun = self._site.example("workflow-dispatch-response")
        return Answer(200, begun | {"html_url": "https://example.test/octo/tools/actions/runs/77"})

    def commit(self, request: Request, token: Token, ref: str) -> Answer:
        found = self.commits.get(unquote(ref))
        if found is None:
            return refusal(422, f"No commit found for SHA: {ref}")
        return Answer(200, self._site.example("commit") | {"sha": found, "files": []})
