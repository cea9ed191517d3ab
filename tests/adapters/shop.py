"""A repository with a line of revisions, and range workshops over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bot.adapters.builds.range_workshop import RangeWorkshop
from bot.adapters.repositories.git import Repository
from bot.model.revisions import Revision
from bot.model.subject import FlagOption, Program, Subject, Workload
from tests.accounts import OWN
from tests.adapters.workbench import soon
from tests.repositories import commit, git, new_repository

GOOD = "cat text > product\n"


class Shop:
    """A repository whose revisions have the build scripts that a test writes, and workshops over it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repository = new_repository(path / "repository")
        self.ids: list[str] = []
        self.stop = False
        self.accounts = OWN
        self.built = path / "built"
        self.built.touch()
        self.built.chmod(0o666)
        self._open: list[RangeWorkshop] = []

    def revisions(self, *builds: str) -> None:
        """Commits a build script each; all say when they run."""
        for place, build in enumerate(builds):
            files = {"build.sh": f"echo {place} >> {self.built}\n{build}", "text": f"{place}\n"}
            self.ids.append(commit(self.repository, files, f"change {place}"))

    @property
    def line(self) -> list[Revision]:
        """The revisions, labelled r0, r1, ..."""
        trees = [git(self.repository, "rev-parse", f"{commit}^{{tree}}") for commit in self.ids]
        return [
            Revision(commit, f"r{place}", tree)
            for place, (commit, tree) in enumerate(zip(self.ids, trees, strict=True))
        ]

    def subject(self, **keys: Any) -> Subject:
        """A subject with one flag; `keys` go over its own."""
        given = {"program": Program(run="./product {options}", build="sh ./build.sh")}
        return Subject(**{**given, "options": {"fast": FlagOption(flag="--fast")}, **keys})

    def opened(self, subject: Subject | None = None, **workloads: Workload) -> RangeWorkshop:
        """A workshop for the whole line."""
        made = RangeWorkshop(
            Repository(self.repository, self.path / "private"),
            subject or self.subject(workloads=workloads),
            self.line,
            accounts=self.accounts,
            cache=self.path / "cache",
            stop=lambda: self.stop,
            builders=2,
        )
        self._open.append(made)
        return made

    def runs(self) -> list[str]:
        """Which build scripts were run so far."""
        return self.built.read_text().split()

    def close(self) -> None:
        """Closes all workshops and looks for leftovers."""
        for workshop in self._open:
            workshop.close()
            assert not workshop.scratch.exists()


def finished(workshop: RangeWorkshop, *places: int) -> list[str]:
    """What came of these places."""
    assert soon(lambda: all(workshop.state(place) != "building" for place in places), 60)
    return [workshop.state(place) for place in places]
