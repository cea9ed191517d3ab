"""The check runs of the fake GitHub: updates add their annotations, at most 50 in one request."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.github.serving import Answer, Request, refusal

MOST = 50


class FakeChecks:
    """`runs` by id, each with what was sent; `annotations` by the id of their run."""

    def __init__(self, example: Callable[[str], Any], page: Callable[..., Any]) -> None:
        self._example, self._page = example, page
        self.runs: dict[int, dict[str, Any]] = {}
        self.annotations: dict[int, list[dict[str, Any]]] = {}

    def told(self) -> list[tuple[str, str, str, list[str]]]:
        """Of each check run its name, conclusion, title and the places of its annotations, oldest first."""
        return [
            (
                run["name"],
                run["conclusion"],
                run["output"]["title"],
                [f"{one['path']}:{one['start_line']}" for one in self.annotations[identity]],
            )
            for identity, run in self.runs.items()
        ]

    def list_of(self, request: Request, token: object, ref: str) -> Answer:
        name, which = request.query.get("check_name"), request.query.get("filter", "latest")
        assert which == "all", "the latest are chosen by when they ended, which is not when they began"
        found = [run for run in self.runs.values() if run["head_sha"] == ref and name in (None, run["name"])]
        page, headers = self._page(request, found[::-1])
        return Answer(200, {"total_count": len(found), "check_runs": page}, headers)

    def create(self, request: Request, token: object) -> Answer:
        asked = json.loads(request.body)
        run = self._example("check-run-example-of-completed-conclusion")
        identity = 9000 + len(self.runs)
        url = run["url"].replace("github/hello-world/check-runs/4", f"octo/tools/check-runs/{identity}")
        run |= {
            "id": identity,
            "url": url,
            "html_url": f"https://example.test/octo/tools/runs/{identity}",
            "head_sha": asked["head_sha"],
        }
        return self._changed(run, asked, status=201)

    def update(self, request: Request, token: object, identity: str) -> Answer:
        run = self.runs.get(int(identity))
        return self._changed(run, json.loads(request.body), status=200) if run else refusal(404, "Not Found")

    def annotations_of(self, request: Request, token: object, identity: str) -> Answer:
        there = self.annotations.get(int(identity))
        return refusal(404, "Not Found") if there is None else Answer(200, *self._page(request, there))

    def _changed(self, run: dict[str, Any], asked: dict[str, Any], *, status: int) -> Answer:
        output = asked.pop("output")
        more = output.pop("annotations", [])
        if len(more) > MOST or len(output["summary"]) > 65_535:
            return refusal(422, "Validation Failed")
        self.runs[run["id"]] = run
        there = self.annotations.setdefault(run["id"], [])
        shape = self._example("check-annotation-items")[0]
        empty = {"start_column": None, "end_column": None, "raw_details": None}
        there += [shape | empty | one for one in more]
        run |= asked
        run["output"] |= output | {"text": None, "annotations_count": len(there)}
        return Answer(status, run)
