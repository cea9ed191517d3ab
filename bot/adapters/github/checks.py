"""Check runs on GitHub: one for each name, head and run, with annotations in batches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from github import Github
from github.CheckRun import CheckRun

from bot.adapters.github.errors import speaking
from bot.adapters.github.forge import GithubForge, later
from bot.model.forge import Annotation, Check, Placed, Stamp

BATCH = 50
"""Annotations that GitHub takes in one request; each request adds to those that are there."""
_MARK = re.compile(r"suspects run=(\d+) attempt=(\d+)")


@dataclass(frozen=True)
class _Standing:
    """Our check runs of one name at one head: this run's, with its annotations, and a newer run's."""

    own: CheckRun | None
    annotations: frozenset[Annotation] = frozenset()
    newer: CheckRun | None = None


class GithubChecks(GithubForge):
    """The port `Checks` on GitHub's REST API, beside what the forge does.

    An update adds its annotations, so it must not be repeated blindly: neither POST nor PATCH is by the
    transport, and after each doubtful answer we look which annotations are there.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._once.close()

    @cached_property
    def _once(self) -> Github:
        return self._client({"GET"})

    def check(self, check: Check, stamp: Stamp) -> Placed:
        """Makes `check` the one check run of its name, head and run, unless a newer run's stands there.

        Safe to repeat, and after an answer that was lost. A later attempt adds its annotations to the older
        ones, which GitHub keeps.

        Raises:
            ForgeRefusedError: the token may not.
            ForgeError: GitHub did not answer after all tries.
        """

        def look() -> _Standing:
            return self._standing(check.name, stamp)

        def settle(there: _Standing) -> Placed:
            return self._settled(check, stamp, there)

        with speaking(f"checking {stamp.head_sha[:12]}", needs="checks: write"):
            before = look()
            placed = self._insist(settle, before=before, look=look)
        return Placed("created", placed.url) if before.own is None and not before.newer else placed

    def _standing(self, name: str, stamp: Stamp) -> _Standing:
        commit = self._once.get_repo(self._repository).get_commit(stamp.head_sha)
        own = newer = None
        for run in commit.get_check_runs(check_name=name, filter="all"):
            match = _MARK.fullmatch(run.external_id or "")
            if match is None:
                continue
            found = Stamp(int(match[1]), int(match[2]), stamp.head_sha)
            newer = run if later(found, stamp) else newer
            own = run if found.run_id == stamp.run_id else own
        if own is None or newer is not None:
            return _Standing(own, newer=newer)
        return _Standing(own, frozenset(map(_annotation, own.get_annotations())))

    def _settled(self, check: Check, stamp: Stamp, there: _Standing) -> Placed:
        if there.newer is not None:
            return Placed("outdated", there.newer.html_url)
        missing = [one for one in check.annotations if one not in there.annotations]
        batches = [missing[at : at + BATCH] for at in range(0, len(missing), BATCH)] or [[]]
        known: dict[str, Any] = {
            "name": check.name,
            "external_id": f"suspects run={stamp.run_id} attempt={stamp.attempt}",
            "status": "completed",
            "conclusion": check.conclusion,
        }
        own = there.own
        if own is None:
            repository = self._once.get_repo(self._repository)
            output = _output(check, batches.pop(0))
            own = repository.create_check_run(head_sha=stamp.head_sha, output=output, **known)
        elif not missing and _same(own, check, known):
            return Placed("unchanged", own.html_url)
        for batch in batches:
            own.edit(output=_output(check, batch), **known)
        return Placed("edited", own.html_url)


def _output(check: Check, batch: Sequence[Annotation]) -> dict[str, Any]:
    told = [
        {
            "path": one.path,
            "start_line": one.line,
            "end_line": one.line,
            "annotation_level": one.level,
            "title": one.title,
            "message": one.message,
        }
        for one in batch
    ]
    return {"title": check.title, "summary": check.summary, "annotations": told}


def _same(own: CheckRun, check: Check, known: dict[str, Any]) -> bool:
    said = (own.external_id, own.conclusion, own.output.title, own.output.summary)
    return said == (known["external_id"], check.conclusion, check.title, check.summary)


def _annotation(told: Any) -> Annotation:
    return Annotation(
        path=told.path,
        line=told.start_line,
        level=told.annotation_level,
        title=told.title,
        message=told.message,
    )
