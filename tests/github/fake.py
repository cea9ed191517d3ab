"""A stateful GitHub on loopback: pull requests, comments, runs and artifacts, with permissions per token."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.github.description import description
from tests.github.fake_checks import FakeChecks
from tests.github.fake_git import FakeGit
from tests.github.fake_talk import FakeTalk
from tests.github.serving import Answer, Fault, Kind, Request, Site, refusal

REPOSITORY = "octo/tools"
WORKFLOW = "workflow-token"
"""The token of a job that may comment and read artifacts."""
_READ, _WRITE = ("read", "write"), ("write",)
NOT_ACCESSIBLE = "Resource not accessible by integration"


@dataclass(frozen=True)
class Token:
    """Who a token writes as and what it may do; a workflow's own token may not ask for its name."""

    login: str = "github-actions[bot]"
    permissions: Mapping[str, str] = field(
        default_factory=lambda: {
            "pull-requests": "write",
            "actions": "read",
            "contents": "read",
            "checks": "write",
        }
    )
    person: bool = False


def archive(members: Mapping[str, bytes]) -> bytes:
    """A zip of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return stream.getvalue()


class FakeGithub:
    """The state, and what each request does to it. Fails loudly on what it does not know."""

    def __init__(self) -> None:
        self.tokens = {WORKFLOW: Token()}
        self.private = False
        self.may_open_pulls = True
        self.pulls: dict[int, dict[str, Any]] = {}
        self.comments: list[dict[str, Any]] = []
        self.issues: list[dict[str, Any]] = []
        self.runs: dict[int, dict[str, Any]] = {}
        self.artifacts: list[dict[str, Any]] = []
        self.merge_bases: dict[tuple[str, str], str] = {}
        self._blobs: dict[int, bytes] = {}
        self._next = 1000
        self.git = FakeGit(self.example)
        self.checks = FakeChecks(self.example, self.page)
        self.talk = FakeTalk(self)
        self.api = Site(self._answer, described=True)
        self.storage = Site(self._blob, described=False)

    def close(self) -> None:
        """Stops both servers; what broke GitHub's rules is an error now."""
        self.api.close()
        self.storage.close()
        violations = self.api.violations + self.storage.violations
        assert not violations, violations

    # What tests arrange.

    def fault(self, kind: Kind, method: str, path: str, **more: Any) -> Fault:
        """The next matching request goes wrong."""
        fault = Fault(kind, method, path, **more)
        self.api.faults.append(fault)
        return fault

    def pull(self, number: int, *, head: str, base: str = "b" * 40, **more: Any) -> None:
        """A pull request; `source` (owner/name or None) and `branch` are its head; `state`, `labels`."""
        pull = self.example("pull-request-simple-items")[0]
        source, branch = more.get("source", REPOSITORY), more.get("branch", "topic")
        pull |= {"number": number, "state": more.get("state", "open"), "requested_teams": []}
        pull |= {
            "url": f"{self.api.url}/repos/{REPOSITORY}/pulls/{number}",
            "html_url": f"https://example.test/{REPOSITORY}/pull/{number}",
            "merged_at": more.get("merged_at"),
        }
        pull["head"] |= {"sha": head, "ref": branch, "label": f"{str(source).split('/')[0]}:{branch}"}
        pull["head"]["repo"] = source and pull["head"]["repo"] | {"full_name": source}
        pull["base"] |= {"sha": base, "ref": "main"}
        pull["labels"] = [pull["labels"][0] | {"name": name} for name in more.get("labels", ())]
        self.pulls[number] = pull

    def run(self, run_id: int, *, head: str, **more: Any) -> None:
        """An ended workflow run; `event`, `source`, `branch`, `attempt`, `conclusion`, `created`."""
        run = self.example("workflow-run")
        source = more.get("source", REPOSITORY)
        run |= {
            "id": run_id,
            "head_sha": head,
            "head_branch": more.get("branch", "topic"),
            "event": more.get("event", "pull_request"),
            "run_attempt": more.get("attempt", 1),
            "conclusion": more.get("conclusion", "success"),
            "created_at": more.get("created", "2026-11-21T12:00:00Z"),
        }
        run["head_repository"] = source and run["head_repository"] | {"full_name": source}
        self.runs[run_id] = run

    def artifact(
        self, run_id: int, content: bytes, *, name: str = "suspects-report", expired: bool = False
    ) -> None:
        """An artifact of a run, as its zip."""
        artifact = self.example("artifact-paginated")["artifacts"][0]
        identity = self._identity()
        artifact |= {"id": identity, "name": name, "size_in_bytes": len(content), "expired": expired}
        run = self.runs.get(run_id)
        ours = run is None or (run["head_repository"] or {}).get("full_name") == REPOSITORY
        artifact["workflow_run"] = {
            "id": run_id,
            "head_branch": run["head_branch"] if run else "topic",
            "repository_id": 1,
            "head_repository_id": 1 if ours else 2,
        }
        artifact["digest"] = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.artifacts.append(artifact)
        self._blobs[identity] = content

    def say(self, number: int, body: str, *, login: str = "ann") -> dict[str, Any]:
        """A comment of somebody."""
        comment: dict[str, Any] = self.example("issue-comment")
        identity = self._identity()
        comment |= {
            "id": identity,
            "body": body,
            "url": f"{self.api.url}/repos/{REPOSITORY}/issues/comments/{identity}",
            "html_url": f"https://example.test/{REPOSITORY}/pull/{number}#issuecomment-{identity}",
            "issue_url": f"{self.api.url}/repos/{REPOSITORY}/issues/{number}",
        }
        comment["user"] |= {"login": login}
        self.comments.append(comment)
        return comment

    def issue(self, title: str, body: str, *, login: str = "ann", state: str = "open") -> dict[str, Any]:
        """An issue of somebody."""
        issue: dict[str, Any] = self.example("issue")
        identity = self._identity()
        issue |= {
            "number": identity,
            "title": title,
            "body": body,
            "state": state,
            "html_url": f"https://example.test/{REPOSITORY}/issues/{identity}",
        }
        issue["user"] |= {"login": login}
        self.issues.append(issue)
        return issue

    def bodies(self, *, login: str = "github-actions[bot]") -> list[str]:
        """What somebody has said, oldest first."""
        return [comment["body"] for comment in self.comments if comment["user"]["login"] == login]

    def example(self, name: str) -> Any:
        """GitHub's own example, with its addresses leading here."""
        text = json.dumps(description().example(name))
        return json.loads(text.replace("https://api.github.com", self.api.url))

    def _identity(self) -> int:
        self._next += 1
        return self._next

    # What requests do.

    def _answer(self, request: Request) -> Answer:
        token = self.tokens.get(request.token or "")
        if token is None:
            return refusal(401, "Bad credentials")
        if request.path == "/user":
            user = self.example("private-user-response-with-public-profile-information")
            return (
                Answer(200, user | {"login": token.login}) if token.person else refusal(403, NOT_ACCESSIBLE)
            )
        prefix = f"/repos/{REPOSITORY}"
        assert request.path.startswith(prefix), f"another repository: {request.path}"
        for method, pattern, needs, allowed, handle in self._routes():
            match = re.fullmatch(pattern, request.path.removeprefix(prefix))
            if method != request.method or not match:
                continue
            open_to_all = allowed == _READ and not self.private and "zip" not in pattern
            if not open_to_all and token.permissions.get(needs) not in allowed:
                return refusal(403, NOT_ACCESSIBLE, X_Accepted_GitHub_Permissions=f"{needs}={allowed[0]}")
            return handle(request, token, *match.groups())
        raise AssertionError(f"the fake does not know {request.method} {request.path}")

    def _routes(self) -> list[tuple[str, str, str, tuple[str, ...], Callable[..., Answer]]]:
        return [
            ("GET", r"/issues/(\d+)/comments", "pull-requests", _READ, self._list_comments),
            ("POST", r"/issues/(\d+)/comments", "pull-requests", _WRITE, self._create_comment),
            ("PATCH", r"/issues/comments/(\d+)", "pull-requests", _WRITE, self._edit_comment),
            ("DELETE", r"/issues/comments/(\d+)", "pull-requests", _WRITE, self._delete_comment),
            ("GET", r"/issues", "issues", _READ, self._list_issues),
            ("POST", r"/issues", "issues", _WRITE, self._create_issue),
            ("GET", r"/pulls", "pull-requests", _READ, self._list_pulls),
            ("POST", r"/pulls", "pull-requests", _WRITE, self._create_pull),
            ("PATCH", r"/pulls/(\d+)", "pull-requests", _WRITE, self._edit_pull),
            ("GET", r"/git/refs?/heads/(.+)", "contents", _READ, self.git.get_ref),
            ("POST", r"/git/refs", "contents", _WRITE, self.git.create_ref),
            ("PATCH", r"/git/refs/heads/(.+)", "contents", _WRITE, self.git.move_ref),
            ("DELETE", r"/git/refs/heads/(.+)", "contents", _WRITE, self.git.delete_ref),
            ("POST", r"/git/trees", "contents", _WRITE, self.git.create_tree),
            ("POST", r"/git/commits", "contents", _WRITE, self.git.create_commit),
            ("GET", r"/git/commits/(\w+)", "contents", _READ, self.git.get_commit),
            ("GET", r"/contents/(.+)", "contents", _READ, self.git.get_contents),
            ("GET", r"/commits/(\w+)/check-runs", "checks", _READ, self.checks.list_of),
            ("POST", r"/check-runs", "checks", _WRITE, self.checks.create),
            ("PATCH", r"/check-runs/(\d+)", "checks", _WRITE, self.checks.update),
            ("GET", r"/check-runs/(\d+)/annotations", "checks", _READ, self.checks.annotations_of),
            *self.talk.routes(),
            ("GET", r"/compare/(.+)\.\.\.(.+)", "contents", _READ, self._compare),
            ("GET", r"/actions/runs/(\d+)", "actions", _READ, self._get_run),
            ("GET", r"/actions/runs/(\d+)/artifacts", "actions", _READ, self._list_artifacts),
            ("GET", r"", "contents", _READ, self._get_repository),
            ("GET", r"/actions/artifacts", "actions", _READ, self._list_stored),
            ("GET", r"/actions/artifacts/(\d+)/zip", "actions", _READ, self._download),
        ]

    def page(self, request: Request, entries: list[Any]) -> tuple[list[Any], dict[str, str]]:
        size = min(int(request.query.get("per_page", 30)), 100)
        page = int(request.query.get("page", 1))
        last = max(-(-len(entries) // size), 1)
        others = "".join(
            f"&{name}={value}" for name, value in request.query.items() if name not in ("page", "per_page")
        )
        links = {"next": page + 1, "last": last} if page < last else {}
        address = f"http://{request.host}{request.path}?per_page={size}{others}"
        link = ", ".join(f'<{address}&page={number}>; rel="{rel}"' for rel, number in links.items())
        return entries[(page - 1) * size : page * size], {"Link": link} if link else {}

    def _list_comments(self, request: Request, token: Token, number: str) -> Answer:
        mine = [one for one in self.comments if one["issue_url"].endswith(f"/issues/{number}")]
        return Answer(200, *self.page(request, mine))

    def _create_comment(self, request: Request, token: Token, number: str) -> Answer:
        if int(number) not in self.pulls:
            return refusal(404, "Not Found")
        body = json.loads(request.body)["body"]
        return _too_long(body) or Answer(201, self.say(int(number), body, login=token.login))

    def _edit_comment(self, request: Request, token: Token, identity: str) -> Answer:
        comment = self._comment(identity)
        if comment is None:
            return refusal(404, "Not Found")
        body = json.loads(request.body)["body"]
        refused = _too_long(body)
        if refused is None:
            comment["body"] = body
        return refused or Answer(200, comment)

    def _delete_comment(self, request: Request, token: Token, identity: str) -> Answer:
        comment = self._comment(identity)
        if comment is None:
            return refusal(404, "Not Found")
        self.comments.remove(comment)
        return Answer(204)

    def _comment(self, identity: str) -> dict[str, Any] | None:
        return next((one for one in self.comments if one["id"] == int(identity)), None)

    def _list_issues(self, request: Request, token: Token) -> Answer:
        state = request.query.get("state", "open")
        found = [one for one in reversed(self.issues) if state in (one["state"], "all")]
        return Answer(200, *self.page(request, found))

    def _create_issue(self, request: Request, token: Token) -> Answer:
        asked = json.loads(request.body)
        return Answer(201, self.issue(asked["title"], asked["body"], login=token.login))

    def _list_pulls(self, request: Request, token: Token) -> Answer:
        state = request.query.get("state", "open")
        head = request.query.get("head")
        found = [
            pull
            for pull in list(self.pulls.values())[:: -1 if request.query.get("direction") == "desc" else 1]
            if state in (pull["state"], "all") and head in (None, pull["head"]["label"])
        ]
        return Answer(200, *self.page(request, found))

    def _create_pull(self, request: Request, token: Token) -> Answer:
        asked = json.loads(request.body)
        if not self.may_open_pulls:
            return refusal(403, "GitHub Actions is not permitted to create or approve pull requests.")
        if asked["head"] not in self.git.branches:
            return refusal(422, "Validation Failed")
        label = f"{REPOSITORY.partition('/')[0]}:{asked['head']}"
        if any(p["state"] == "open" and p["head"]["label"] == label for p in self.pulls.values()):
            return refusal(422, "A pull request already exists")
        number = self._identity()
        self.pull(number, head=self.git.branches[asked["head"]], branch=asked["head"])
        self.pulls[number]["user"] |= {"login": token.login}
        self.pulls[number] |= {"title": asked["title"], "body": asked["body"]}
        assert asked["base"] == "main"
        return Answer(201, self.whole(self.pulls[number]))

    def _edit_pull(self, request: Request, token: Token, number: str) -> Answer:
        self.pulls[int(number)] |= json.loads(request.body)
        return Answer(200, self.whole(self.pulls[int(number)]))

    def whole(self, pull: dict[str, Any]) -> dict[str, Any]:
        """A pull request as it is told alone."""
        told = ("number", "state", "title", "body", "html_url", "url", "user", "merged_at", "requested_teams")
        whole: dict[str, Any] = self.example("pull-request")
        for side in ("head", "base"):
            source = pull[side]["repo"]
            whole[side] |= {name: pull[side][name] for name in ("sha", "ref", "label")}
            whole[side]["repo"] = source and whole[side]["repo"] | {"full_name": source["full_name"]}
        return whole | {name: pull[name] for name in (*told, "labels")}

    def _compare(self, request: Request, token: Token, base: str, head: str) -> Answer:
        comparison = self.example("commit-comparison")
        comparison["merge_base_commit"] |= {"sha": self.merge_bases.get((base, head), base)}
        return Answer(200, comparison)

    def _get_run(self, request: Request, token: Token, run_id: str) -> Answer:
        run = self.runs.get(int(run_id))
        return refusal(404, "Not Found") if run is None else Answer(200, run)

    def _list_artifacts(self, request: Request, token: Token, run_id: str) -> Answer:
        name = request.query.get("name")
        found = [
            one
            for one in self.artifacts
            if one["workflow_run"]["id"] == int(run_id) and name in (None, one["name"])
        ]
        page, headers = self.page(request, found)
        return Answer(200, {"total_count": len(found), "artifacts": page}, headers)

    def _get_repository(self, request: Request, token: Token) -> Answer:
        repository = self.example("full-repository-default-response")
        for fork in ("parent", "source"):  # this one is none, and the examples of them break the rules
            del repository[fork]
        mended = {"full_name": REPOSITORY, "default_branch": "main", "language": None}
        mended |= {"url": f"{self.api.url}/repos/{REPOSITORY}"}
        return Answer(200, repository | mended)

    def _list_stored(self, request: Request, token: Token) -> Answer:
        name = request.query.get("name")
        found = [one for one in self.artifacts if name in (None, one["name"])][::-1]
        page, headers = self.page(request, found)
        return Answer(200, {"total_count": len(found), "artifacts": page}, headers)

    def _download(self, request: Request, token: Token, identity: str) -> Answer:
        artifact = next((one for one in self.artifacts if one["id"] == int(identity)), None)
        if artifact is None or artifact["expired"]:
            return refusal(410, "Artifact has expired")
        return Answer(302, headers={"Location": f"{self.storage.url}/blob/{identity}?sig=signed"})

    def _blob(self, request: Request) -> Answer:
        assert request.token is None, "the storage of another company was given our token"
        content = self._blobs[int(request.path.rsplit("/", 1)[1])]
        return Answer(200, raw=content, headers={"Content-Type": "application/zip"})


def _too_long(body: str) -> Answer | None:
    if len(body) <= 65_536:
        return None
    answer = refusal(422, "Validation Failed")
    answer.body["errors"] = [{"resource": "IssueComment", "field": "data", "code": "unprocessable"}]
    return answer
