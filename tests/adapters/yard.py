"""A repository with a base and a head, and workshops that build them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.adapters.builds.workshop import Workshop
from bot.adapters.repositories.git import Repository
from bot.model.revisions import Comparison
from bot.model.subject import Program, Subject, Workload
from tests.accounts import OWN
from tests.repositories import commit, git, new_repository

BUILD = "sh ./build.sh"


class Yard:
    """A repository with a base (v1) and a head, and workshops for it that are all closed at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repository = new_repository(path / "repository")
        self.cache = path / "cache"
        self.accounts = OWN
        self._open: list[Workshop] = []

    def commits(self, base: dict[str, str], head: dict[str, str | None]) -> None:
        """Base (with a build script, unless it brings one) and head."""
        commit(self.repository, {"build.sh": "echo built > product\n", **base})
        git(self.repository, "tag", "v1")
        commit(self.repository, {"changed": "1", **head})

    def opened(self) -> Repository:
        """The repository as our adapter sees it."""
        return Repository(self.repository, self.path / "private")

    def comparison(self) -> Comparison:
        """v1 against HEAD."""
        return self.opened().resolve("v1", "HEAD")

    def workshop(self, *, workloads: dict[str, Workload] | None = None, **keys: Any) -> Workshop:
        """A workshop for a program with these keys (those of `own` and `cache` are the workshop's).

        `kept`: the program's own `cache`.
        """
        own = {k: keys.pop(k) for k in ("passed", "own_path", "stop") if k in keys}
        cache = keys.pop("cache", self.cache)
        kept = keys.pop("kept", ())
        program = Program(**{"run": "./product", "build": BUILD, "cache": kept, **keys})
        made = Workshop(
            self.opened(),
            Subject(program=program, workloads=workloads or {}),
            accounts=self.accounts,
            cache=cache,
            machine=self.path / "machine",
            **own,
        )
        self._open.append(made)
        return made

    def close(self) -> None:
        """Closes all workshops and looks for leftovers."""
        for workshop in self._open:
            workshop.close()
            assert not workshop.scratch.exists()
