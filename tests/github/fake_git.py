"""The git data of the fake GitHub: trees, commits and branches, and the requests that make them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.github.serving import Answer, Request, refusal


class FakeGit:
    """Trees are whole files by path; branches point at commits. `example`: GitHub's own, by name."""

    def __init__(self, example: Callable[[str], Any]) -> None:
        self._example = example
        self.trees: dict[str, dict[str, str]] = {}
        self.commits: dict[str, dict[str, Any]] = {}
        self.branches: dict[str, str] = {}

    def commit(
        self,
        files: Mapping[str, str],
        *,
        parents: Sequence[str] = (),
        message: str = "work",
        branch: str | None = None,
    ) -> str:
        """Somebody's commit with exactly these files; its hash."""
        sha = self._keep({"message": message, "tree": self._tree(dict(files)), "parents": list(parents)})
        if branch is not None:
            self.branches[branch] = sha
        return sha

    def files(self, commit: str) -> dict[str, str]:
        """All files of a commit."""
        return self.trees[self.commits[commit]["tree"]]

    def get_ref(self, request: Request, token: object, name: str) -> Answer:
        found = name in self.branches
        return Answer(200, self._ref(name)) if found else refusal(404, "Not Found")

    def create_ref(self, request: Request, token: object) -> Answer:
        asked = json.loads(request.body)
        name = asked["ref"].removeprefix("refs/heads/")
        if name in self.branches:
            return refusal(422, "Reference already exists")
        self.branches[name] = asked["sha"]
        return Answer(201, self._ref(name))

    def move_ref(self, request: Request, token: object, name: str) -> Answer:
        asked = json.loads(request.body)
        if name not in self.branches or asked["sha"] not in self.commits:
            return refusal(422, "Reference does not exist")
        if not asked.get("force") and self.branches[name] not in self.commits[asked["sha"]]["parents"]:
            return refusal(422, "Update is not a fast forward")
        self.branches[name] = asked["sha"]
        return Answer(200, self._ref(name))

    def delete_ref(self, request: Request, token: object, name: str) -> Answer:
        if self.branches.pop(name, None) is None:
            return refusal(422, "Reference does not exist")
        return Answer(204)

    def create_tree(self, request: Request, token: object) -> Answer:
        asked = json.loads(request.body)
        files = dict(self.trees[asked["base_tree"]])
        for entry in asked["tree"]:
            assert (entry["mode"], entry["type"]) == ("100644", "blob")
            files[entry["path"]] = entry["content"]
        return Answer(201, self._example("git-tree") | {"sha": self._tree(files)})

    def create_commit(self, request: Request, token: object) -> Answer:
        asked = json.loads(request.body)
        assert asked["tree"] in self.trees and set(asked["parents"]) <= set(self.commits)
        return Answer(201, self._shown(self._keep(asked)))

    def get_commit(self, request: Request, token: object, sha: str) -> Answer:
        return Answer(200, self._shown(sha)) if sha in self.commits else refusal(404, "Not Found")

    def get_contents(self, request: Request, token: object, path: str) -> Answer:
        at = request.query["ref"]
        if at not in self.commits or path not in self.files(at):
            return refusal(404, "Not Found")
        content = self._example("content-file-response-if-content-is-a-file")
        text = base64.encodebytes(self.files(at)[path].encode()).decode()
        return Answer(200, content | {"path": path, "content": text})

    def _tree(self, files: dict[str, str]) -> str:
        sha = hashlib.sha1(json.dumps(files, sort_keys=True).encode()).hexdigest()
        self.trees[sha] = files
        return sha

    def _keep(self, commit: dict[str, Any]) -> str:
        sha = hashlib.sha1(json.dumps([len(self.commits), commit]).encode()).hexdigest()
        self.commits[sha] = commit
        return sha

    def _ref(self, name: str) -> dict[str, Any]:
        ref: dict[str, Any] = self._example("git-ref")
        url = f"{ref['url'].partition('/git/')[0]}/git/refs/heads/{name}"
        url = url.replace("octocat/Hello-World", "octo/tools")
        ref |= {"ref": f"refs/heads/{name}", "url": url}
        ref["object"] |= {"sha": self.branches[name]}
        return ref

    def _shown(self, sha: str) -> dict[str, Any]:
        commit, shown = self.commits[sha], self._example("git-commit-2")
        parent = shown["parents"][0]
        return {
            **shown,
            "sha": sha,
            "message": commit["message"],
            "tree": shown["tree"] | {"sha": commit["tree"]},
            "parents": [parent | {"sha": one} for one in commit["parents"]],
        }
