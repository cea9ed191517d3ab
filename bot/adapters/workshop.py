"""Builds both sides of a comparison, each as its own account in a fresh checkout, and prepares workloads."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Self

from bot.adapters import build_cache, checkout, inputs, process
from bot.adapters.git import Repository
from bot.adapters.inputs import SIDES
from bot.model.errors import UsageError
from bot.model.revisions import Build, Comparison, Revision
from bot.model.sites import Account, Site
from bot.model.subject import Program, Subject
from bot.model.trials import Side

RECIPE_VERSION = 1
"""Changes with the way we build, so that trees built otherwise are not taken from a cache."""


class Workshop:
    """Fits the port of the same name; the sites are there until `close`.

    `accounts`: who builds each side. `cache`: where built trees are kept between runs (None, or a place
    that cannot be used: a temporary folder). `passed`: the variables of `pass_env`. `machine`: where it is
    written down that `setup` has run on this machine, which a cache carried to another machine must not say.
    `within`: where the temporary folder is made.

    Raises:
        UsageError: the temporary folder lies where the accounts cannot enter.
    """

    def __init__(
        self,
        repository: Repository,
        subject: Subject,
        *,
        accounts: Mapping[Side, Account | None],
        cache: Path | None = None,
        passed: Mapping[str, str] | None = None,
        machine: Path | None = None,
        stop: Callable[[], bool] | None = None,
        within: Path | None = None,
    ) -> None:
        assert isinstance(subject.program, Program)
        self._repository = repository
        self._subject = subject
        self._program = subject.program
        self._accounts = accounts
        self._environment = {**process.PLAIN_ENVIRONMENT, **subject.program.env, **(passed or {})}
        self._machine = machine or Path(tempfile.gettempdir(), f"suspects-setup-{os.geteuid()}")
        self._stop = stop or (lambda: False)
        self._notes: list[str] = []
        self._inputs = inputs.Inputs()
        self._entries: dict[Side, build_cache.Entry] = {}
        self.scratch = Path(tempfile.mkdtemp(prefix="suspects-", dir=within))
        """A folder of this run that both accounts can enter; removed by `close`."""
        self.scratch.chmod(0o755)
        closed = self._closed(self.scratch)
        if closed is not None:
            checkout.remove(self.scratch)
            error = UsageError(f"The accounts that build and measure cannot enter {closed}.")
            error.add_note("Set TMPDIR to a folder that everyone may enter.")
            raise error
        self._cache = self._usable(cache)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes what belongs to this run and lets go of the cache."""
        for entry in {id(e): e for e in self._entries.values()}.values():
            entry.close()
        self._entries.clear()
        checkout.remove(self.scratch)

    def notes(self) -> Sequence[str]:
        """What a reader must know about how it was built."""
        return (*self._notes, *self._inputs.notes)

    def build(self, comparison: Comparison) -> Mapping[Side, Build]:
        """`setup` if this machine has not run it, both builds in parallel, then the workloads."""
        failed = self._set_up()
        if failed is not None:
            return {side: replace(failed, side=side) for side in SIDES}
        revisions: dict[Side, Revision] = {"base": comparison.base, "head": comparison.head}
        keys = {side: self._key(revision) for side, revision in revisions.items()}
        if keys["base"] == keys["head"]:
            built = self._build("base", revisions["base"], keys["base"])
            builds = {side: replace(built, side=side) for side in SIDES}
            if built.ok:
                self._entries["head"] = self._entries["base"]
        else:
            with ThreadPoolExecutor(len(SIDES)) as pool:
                results = pool.map(lambda side: self._build(side, revisions[side], keys[side]), SIDES)
                builds = dict(zip(SIDES, results, strict=True))
        if all(build.ok for build in builds.values()):
            self._prepare()
            builds.update(self._inputs.failures)
        with suppress(OSError):
            build_cache.prune(self._cache)
        return builds

    def sites(self) -> Mapping[Side, Site]:
        """Where trials run, after both builds went well; the paths of both sides have the same length."""
        return {
            side: Site(side, entry.tree, self._accounts[side], self._inputs.files)
            for side, entry in self._entries.items()
        }

    def _build(self, side: Side, revision: Revision, key: str) -> Build:
        """One side; whatever the subject, the disk or a signal does is an outcome."""
        built = Build(side, ok=True, cached=True)
        entry: build_cache.Entry | None = None
        try:
            entry = build_cache.Entry(self._cache, key)
            if not entry.claim(self._stop):
                built = self._build_new(side, revision, entry)
                if built.ok:
                    entry.finish()
        except OSError as error:
            free = f"{shutil.disk_usage(self._cache).free >> 20} MiB are free in {self._cache}"
            reason = f"The checkout of {side} could not be completed: {error.strerror or error} ({free})."
            built = Build(side, ok=False, step="checkout", reason=reason)
        if entry is not None and built.ok:
            self._entries[side] = entry
        elif entry is not None:
            with suppress(OSError):
                entry.clear_if_unused()
            entry.close()  # another run may try
        return built

    def _build_new(self, side: Side, revision: Revision, entry: build_cache.Entry) -> Build:
        account = self._accounts[side]
        entry.tree.mkdir(mode=0o755)
        self._repository.archive(revision, entry.tree)
        if self._program.build is None:
            checkout.seal(entry.tree, None)
            return Build(side, ok=True)
        checkout.give(entry.tree, account)
        ended = self._shell(self._program.build, side, entry.tree)
        if ended.outcome != "ok":
            reason = ended.reason(f"`build` of {side}")
            return Build(side, ok=False, seconds=ended.seconds, reason=reason, log=ended.log)
        checkout.seal(entry.tree, account)
        return Build(side, ok=True, seconds=ended.seconds)

    def _shell(self, command: str, side: Side, folder: Path) -> process.Ended:
        """Runs a command as a side's account, with a home and a temporary folder of its own."""
        account = self._accounts[side]
        homes = {"HOME": folder.parent / "home", "TMPDIR": folder.parent / "temp"}
        try:
            for home in homes.values():
                home.mkdir(mode=0o700)
                checkout.give(home, account)
            return process.run(
                ["sh", "-c", command],
                cwd=folder,
                env={**self._environment, **{name: str(home) for name, home in homes.items()}},
                account=account,
                timeout=self._program.build_timeout,
                stop=self._stop,
            )
        finally:
            for home in homes.values():
                checkout.remove(home)

    def _prepare(self) -> None:
        kitchen = inputs.Kitchen(
            self.scratch,
            trees={side: entry.tree for side, entry in self._entries.items()},
            accounts=self._accounts,
            shell=self._shell,
        )
        self._inputs = kitchen.prepare(self._subject)

    def _set_up(self) -> Build | None:
        """Runs `setup` as ourselves, with the network, in an empty folder; None when it is done."""
        command = self._program.setup
        if command is None:
            return None
        folder = self.scratch / "setup"
        folder.mkdir(mode=0o700)
        try:
            with build_cache.once(self._machine, digest([command, self._environment])) as record:
                if record.read(1):
                    return None
                ended = process.run(
                    ["sh", "-c", command],
                    cwd=folder,
                    env={**self._environment, "HOME": str(folder), "TMPDIR": str(folder)},
                    account=None,
                    timeout=self._program.build_timeout,
                    network=True,
                    confined=False,
                    stop=self._stop,
                )
                if ended.outcome == "ok":
                    record.write("done\n")
                    return None
        except OSError as error:
            return Build("base", ok=False, step="setup", reason=f"`setup` could not be run: {error}.")
        finally:
            checkout.remove(folder)
        reason = ended.reason("`setup`")
        return Build("base", ok=False, seconds=ended.seconds, step="setup", reason=reason, log=ended.log)

    def _usable(self, cache: Path | None) -> Path:
        """The cache's folder when we can write there and the accounts can enter, else one of this run."""
        if cache is not None:
            try:
                cache.mkdir(mode=0o755, parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=cache):
                    closed = self._closed(cache)
            except OSError as error:
                self._notes.append(f"Builds are not kept for the next run: {cache}: {error.strerror}.")
            else:
                if closed is None:
                    return cache.resolve()
                self._notes.append(
                    f"Builds are not kept for the next run: the accounts that build cannot enter {closed}."
                )
        built = self.scratch / "built"
        built.mkdir(mode=0o755)
        return built

    def _closed(self, folder: Path) -> Path | None:
        found = (checkout.closed_folder(folder, self._accounts[side]) for side in SIDES)
        return next((closed for closed in found if closed is not None), None)

    def _key(self, revision: Revision) -> str:
        """Everything a built tree depends on; the cache's path too, because builds write it down."""
        try:
            system = platform.freedesktop_os_release()
        except OSError:
            system = {}
        machine = [platform.machine(), system.get("ID"), system.get("VERSION_ID")]
        recipe = [self._program.setup, self._program.build, self._environment, str(self._cache)]
        return digest([RECIPE_VERSION, machine, revision.tree or revision.id, recipe])


def digest(facts: object) -> str:
    """A name of fixed length for a JSON value."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
