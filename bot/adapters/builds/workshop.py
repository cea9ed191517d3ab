"""Builds both sides of a comparison, each as its own account in a fresh checkout, and prepares workloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from bot.adapters.builds import build_cache, inputs
from bot.adapters.builds.builder import Builder
from bot.adapters.builds.inputs import SIDES
from bot.adapters.repositories.git import Repository
from bot.model.revisions import Build, Comparison, Revision
from bot.model.sites import Account, Site
from bot.model.subject import Subject
from bot.model.trials import Side


class Workshop:
    """Fits the port of the same name; the sites are there until `close`.

    The arguments are those of `Builder`.

    Raises:
        UsageError: the temporary folder lies where the accounts cannot enter.
    """

    def __init__(  # noqa: PLR0913  Builder's
        self,
        repository: Repository,
        subject: Subject,
        *,
        accounts: Mapping[Side, Account | None],
        cache: Path | None = None,
        passed: Mapping[str, str] | None = None,
        own_path: str = "",
        machine: Path | None = None,
        stop: Callable[[], bool] | None = None,
        within: Path | None = None,
    ) -> None:
        self._subject = subject
        self._accounts = accounts
        self._inputs = inputs.Inputs()
        self._entries: dict[Side, build_cache.Entry] = {}
        self._trusted: tuple[Side, ...] = ()
        self._builder = Builder(
            repository,
            subject,
            accounts=accounts,
            cache=cache,
            passed=passed,
            own_path=own_path,
            machine=machine,
            stop=stop,
            within=within,
        )
        self.scratch = self._builder.scratch
        """A folder of this run that both accounts can enter; removed by `close`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes what belongs to this run and lets go of the cache."""
        for entry in {id(e): e for e in self._entries.values()}.values():
            entry.close()
        self._entries.clear()
        self._builder.close()

    def notes(self) -> Sequence[str]:
        """What a reader must know about how it was built."""
        return (*self._builder.notes, *self._inputs.notes)

    def build(self, comparison: Comparison, *, trusted: bool = True) -> Mapping[Side, Build]:
        """`setup` if this machine has not run it, both builds in parallel, then the workloads.

        trusted: base may leave what `program.cache` names for later builds; head never does.
        """
        self._trusted = ("base",) if trusted else ()
        failed = self._builder.set_up()
        if failed is not None:
            return {side: replace(failed, side=side) for side in SIDES}
        revisions: dict[Side, Revision] = {"base": comparison.base, "head": comparison.head}
        if self._builder.key(comparison.base) == self._builder.key(comparison.head):
            built = self._build("base", comparison.base)
            builds = {side: replace(built, side=side) for side in SIDES}
            if built.ok:
                self._entries["head"] = self._entries["base"]
        else:
            with ThreadPoolExecutor(len(SIDES)) as pool:
                results = pool.map(lambda side: self._build(side, revisions[side]), SIDES)
                builds = dict(zip(SIDES, results, strict=True))
        if all(build.ok for build in builds.values()):
            self._prepare()
            builds.update(self._inputs.failures)
        with suppress(OSError):
            build_cache.prune(self._builder.cache)
        return builds

    def sites(self) -> Mapping[Side, Site]:
        """Where trials run, after both builds went well; the paths of both sides have the same length."""
        return {
            side: Site(side, entry.tree, self._accounts[side], self._inputs.files)
            for side, entry in self._entries.items()
        }

    def _build(self, side: Side, revision: Revision) -> Build:
        built, entry = self._builder.build(side, revision, trusted=side in self._trusted)
        if entry is not None:
            self._entries[side] = entry
        return built

    def _prepare(self) -> None:
        kitchen = inputs.Kitchen(
            self.scratch,
            trees={side: entry.tree for side, entry in self._entries.items()},
            accounts=self._accounts,
            shell=self._builder.shell,
        )
        self._inputs = kitchen.prepare(self._subject)
