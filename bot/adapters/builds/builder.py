"""Builds one revision at a time: as an account, in a fresh checkout, kept in the cache."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from bot.adapters.builds import absent_command, build_cache, checkout
from bot.adapters.builds.compilers import ROOM, debugging
from bot.adapters.builds.inputs import SIDES
from bot.adapters.builds.kept_folders import KeptFolders
from bot.adapters.processes import process
from bot.adapters.processes.readable import Box
from bot.adapters.repositories.git import Repository
from bot.adapters.repositories.submodules import write_submodules
from bot.model.errors import UsageError
from bot.model.revisions import CHECKOUT, Build, Revision
from bot.model.sites import Account
from bot.model.subject import Program, Subject
from bot.model.trials import Side

RECIPE_VERSION = 3
"""Changes with the way we build, so that trees built otherwise are not taken from a cache."""


class Builder:
    """What workshops build with; several threads may.

    `accounts`: who builds each side. `cache`: where built trees are kept between runs (None, or a place
    that cannot be used: a temporary folder). `passed`: the variables of `pass_env`. `own_path`: the PATH of
    who started us, to tell where a command lies that builds do not find. `machine`: where it is written down
    that `setup` has run on this machine, which a cache carried to another machine must not say.
    `within`: where the temporary folder is made.

    Raises:
        UsageError: the temporary folder lies where the accounts cannot enter.
    """

    def __init__(  # noqa: PLR0913  (all by keyword)
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
        assert isinstance(subject.program, Program)
        self._repository = repository
        self._program = subject.program
        self._boxed = subject.sandbox != "off"
        self._accounts = accounts
        self._environment = {**process.PLAIN_ENVIRONMENT, **subject.program.env, **(passed or {})}
        self._own_path = own_path
        self._machine = machine or Path(tempfile.gettempdir(), f"suspects-setup-{os.geteuid()}")
        self._stop = stop or (lambda: False)
        self.notes: list[str] = []
        """What a reader must know about how it was built."""
        self.scratch = Path(tempfile.mkdtemp(prefix="suspects-", dir=within))
        """A folder of this run that both accounts can enter; removed by `close`."""
        self.scratch.chmod(0o755)
        closed = self._closed(self.scratch)
        if closed is not None:
            checkout.remove(self.scratch)
            error = UsageError(f"The accounts that build and measure cannot enter {closed}.")
            error.add_note("Set TMPDIR to a folder that everyone may enter.")
            raise error
        self.cache = self._usable(cache)
        """Where built trees lie."""
        self._kept = KeptFolders(self.cache / "kept", self._program.cache)
        self.compiles = self._program.runtime == "native" and self._program.build is not None
        """Whether a build may call compilers that leave what tools need."""
        self._debugging: Mapping[str, str] = {}
        if self.compiles:
            with suppress(OSError):  # the disk is full: a build will say so
                self._debugging = debugging(self.scratch / "compilers", self._environment)
        self._room: Mapping[str, str] | None = None

    def stopped(self) -> bool:
        """Whether whatever is building has to end."""
        return self._stop()

    def close(self) -> None:
        """Removes what belongs to this run."""
        checkout.remove(self.scratch)

    def build(
        self, side: Side, revision: Revision, *, name: str = "", trusted: bool = False, room: bool = False
    ) -> tuple[Build, build_cache.Entry | None]:
        """Builds a revision as a side; its tree, locked, when that went well.

        Whatever the subject, the disk or a signal does is an outcome. `name`: what messages call it.
        `trusted`: it may leave what `program.cache` names for later builds, of other revisions, too. `room`:
        another tree, whose functions have room for a tracer.
        """
        name = name or side
        built = Build(side, ok=True, cached=True)
        entry: build_cache.Entry | None = None
        try:
            entry = build_cache.Entry(self.cache, self.key(revision, room=room))
            if not entry.claim(self._stop):
                built = self._build_new(side, revision, entry, name=name, trusted=trusted, room=room)
                if built.ok:
                    entry.finish()
        except OSError as error:
            free = f"{shutil.disk_usage(self.cache).free >> 20} MiB are free in {self.cache}"
            reason = f"The checkout of {name} could not be completed: {error.strerror or error} ({free})."
            built = Build(side, ok=False, step=CHECKOUT, reason=reason)
        if entry is not None and not built.ok:
            with suppress(OSError):
                entry.clear_if_unused()
            entry.close()  # another run may try
            entry = None
        return built, entry

    def _build_new(
        self,
        side: Side,
        revision: Revision,
        entry: build_cache.Entry,
        *,
        name: str,
        trusted: bool,
        room: bool,
    ) -> Build:
        account = self._accounts[side]
        entry.tree.mkdir(mode=0o755)
        self._repository.archive(revision, entry.tree)
        if self._program.submodules:
            write_submodules(self._repository, revision.tree, entry.tree)
            self._repository.date(revision, entry.tree)
        checkout.bound(entry.tree)
        if self._program.build is None:
            checkout.seal(entry.tree, None)
            return Build(side, ok=True, step=CHECKOUT)
        ended = self.shell(self._program.build, side, entry.tree, building=True, trusted=trusted, room=room)
        if ended.outcome != "ok":
            reason = f"{ended.reason(f'`build` of {name}')} {self._absent(ended, account)}".rstrip()
            return Build(side, ok=False, seconds=ended.seconds, reason=reason, log=ended.log)
        checkout.seal(entry.tree, account)
        return Build(side, ok=True, seconds=ended.seconds)

    def shell(
        self,
        command: str,
        side: Side,
        folder: Path,
        *,
        building: bool = False,
        trusted: bool = False,
        room: bool = False,
    ) -> process.Ended:
        """Runs a command as a side's account, with a home and a temporary folder of its own.

        building: the folder becomes the account's, with what `program.cache` keeps and, if the program asks
        for it, with the network. trusted, room: see `build`.
        """
        account = self._accounts[side]
        writable = map(Path, self._program.writable)
        homes = {"HOME": folder.parent / "home", "TMPDIR": folder.parent / "temp"}
        try:
            for home in homes.values():
                home.mkdir(mode=0o700)
            if building:
                self._kept.lay_out(homes["HOME"], folder)
            for given in (*homes.values(), *([folder] if building else [])):
                checkout.give(given, account)
            ended = process.run(
                ["sh", "-c", command],
                cwd=folder,
                env={
                    **self._environment,
                    **(self._roomy() if room else self._debugging),
                    **{name: str(home) for name, home in homes.items()},
                },
                account=account,
                timeout=self._program.build_timeout,
                network=building and "build" in self._program.network,
                box=Box((folder, *homes.values(), *writable)) if self._boxed else None,
                stop=self._stop,
            )
            if building and trusted and ended.outcome == "ok":
                self._keep(homes["HOME"], folder, account)
            return ended
        finally:
            for home in homes.values():
                checkout.remove(home)

    def _absent(self, ended: process.Ended, account: Account | None) -> str:
        path = self._environment["PATH"]
        return absent_command.elsewhere(ended.log, build_path=path, own_path=self._own_path, account=account)

    def _roomy(self) -> Mapping[str, str]:
        if self._room is None:
            self._room = debugging(self.scratch / "roomy", self._environment, room=True)
        return self._room

    def _keep(self, home: Path, tree: Path, account: Account | None) -> None:
        try:
            self._kept.keep(home, tree, account)
        except OSError as error:
            self.notes.append(f"What `program.cache` names was not kept for the next build: {error}.")

    def set_up(self) -> Build | None:
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
                    network="setup" in self._program.network,
                    confined="setup" not in self._program.network,
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
                self.notes.append(f"Builds are not kept for the next run: {cache}: {error.strerror}.")
            else:
                if closed is None:
                    return cache.resolve()
                self.notes.append(
                    f"Builds are not kept for the next run: the accounts that build cannot enter {closed}."
                )
        built = self.scratch / "built"
        built.mkdir(mode=0o755)
        return built

    def _closed(self, folder: Path) -> Path | None:
        found = (checkout.closed_folder(folder, self._accounts[side]) for side in SIDES)
        return next((closed for closed in found if closed is not None), None)

    def key(self, revision: Revision, *, room: bool = False) -> str:
        """Everything a built tree depends on; the cache's path too, because builds write it down.

        `_debugging` is left out: it depends on nothing but the rest, the version and this run's folder.
        """
        try:
            system = platform.freedesktop_os_release()
        except OSError:
            system = {}
        machine = [platform.machine(), system.get("ID"), system.get("VERSION_ID")]
        program = self._program
        recipe = [program.setup, program.build, self._environment, str(self.cache)]
        extras = [program.submodules, program.cache, program.network]
        return digest([RECIPE_VERSION, machine, revision.tree or revision.id, recipe, extras, *[ROOM] * room])


def digest(facts: object) -> str:
    """A name of fixed length for a JSON value."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
