"""Builds the revisions of a range: several at once, ahead of need, equal trees once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Literal, Self, TypeAlias

from bot.adapters.builds import build_cache
from bot.adapters.builds.build_cache import Entry
from bot.adapters.builds.builder import Builder
from bot.adapters.builds.compilers import ROOM
from bot.adapters.builds.inputs import Inputs, Kitchen
from bot.adapters.repositories.git import Repository
from bot.model.revisions import Build, Revision
from bot.model.sites import Account, Site
from bot.model.subject import Program, Subject
from bot.model.trials import Side

State: TypeAlias = Literal["building", "built", "failed", "cut"]
"""failed: it cannot be built; cut: the run or the disk ended before it was."""
MOST_HELD = 200
"""Trees that are locked at the same time, each by an open file."""
KEPT_TREES = 64
"""Trees that stay in the cache for the next run."""
ROOM_BYTES = 2 << 30
"""With less room on the disk, trees that nobody waits for are removed."""
FULL_BYTES = 64 << 20
"""With less room than this a build that fails says nothing of its revision."""


class RangeWorkshop:
    """Builds revisions by their place in the range; a context manager, used by one thread.

    The arguments are those of `Builder`, and how many build at the same time (None: half of the cores).
    All are built by head's account; the anchor runs as base's.

    Raises:
        UsageError: the temporary folder lies where the accounts cannot enter.
    """

    def __init__(  # noqa: PLR0913  Builder's, and one
        self,
        repository: Repository,
        subject: Subject,
        revisions: Sequence[Revision],
        *,
        accounts: Mapping[Side, Account | None],
        cache: Path | None = None,
        passed: Mapping[str, str] | None = None,
        own_path: str = "",
        stop: Callable[[], bool] | None = None,
        within: Path | None = None,
        builders: int | None = None,
    ) -> None:
        self._subject, self._revisions, self._accounts = subject, revisions, accounts
        self._closing = False
        self._builder = Builder(
            repository,
            subject,
            accounts=accounts,
            cache=cache,
            passed=passed,
            own_path=own_path,
            stop=lambda: self._closing or (stop is not None and stop()),
            within=within,
        )
        self._keys = [self._builder.key(revision) for revision in revisions]
        # Half of the cores: trials run on all of them at the same time.
        self._pool = ThreadPoolExecutor(builders or max(1, len(os.sched_getaffinity(0)) // 2))
        self._running: dict[Future[tuple[Build, Entry | None]], str] = {}
        self._states: dict[str, State] = {}
        self._held: dict[str, Entry] = {}
        self._roomy: list[Entry] = []
        self._needed: set[str] = set()
        self._anchor = ""
        self._inputs = Inputs()
        self._notes: list[str] = []
        self.scratch = self._builder.scratch
        """A folder of this run that all accounts can enter; removed by `close`."""
        self.builds, self.seconds = 0, 0.0
        """Builds that were run, failed ones included, and the seconds of all of them."""
        self.failure: Build | None = None
        """Why there is no anchor."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends what is still building, lets go of all trees, and keeps some of them in the cache."""
        self._closing = True
        self._pool.shutdown(cancel_futures=True)
        done = [future for future in self._running if not future.cancelled()]
        self._collect(future for future in done if future.exception() is None)
        for entry in (*self._held.values(), *self._roomy):
            entry.close()
        self._held.clear()
        with suppress(OSError):
            build_cache.prune(self._builder.cache, KEPT_TREES)
        self._builder.close()

    def notes(self) -> Sequence[str]:
        """What a reader must know about how it was built."""
        late = sum(not future.done() for future in self._running)
        which = (
            f"{late} revisions that trials waited for were"
            if late > 1
            else "1 revision that trials waited for was"
        )
        said = f"{which} not built in time: a larger --budget makes room for builds."
        if isinstance(program := self._subject.program, Program) and not program.cache:
            said = f"{said[:-1]}, and `program.cache` keeps what they can share."
        return (*self._builder.notes, *self._inputs.notes, *self._notes, *([said] * bool(late)))

    def anchor(self) -> int | None:
        """The newest that builds of the last revision, the one before, and so on at doubled distances.

        Workloads are made from it. None: nothing can be measured, `failure` says why.
        """
        self.failure = self._builder.set_up()
        if self.failure is not None:
            return None
        last = len(self._revisions) - 1
        for place in _backwards(last):
            self.want([place])
            while self.state(place) == "building":
                self.wait()
            match self.state(place):
                case "built":
                    self._anchor = self._keys[place]
                    return place if self._prepare(place) else None
                case "cut":
                    return None
        return None

    def give_up(self, places: Collection[int]) -> None:
        """Takes it from an earlier run that these cannot be built."""
        for place in places:
            self._states.setdefault(self._keys[place], "failed")

    def want(self, places: Iterable[int]) -> None:
        """Begins to build these, in their order, where that is not done; they stay until the next wish."""
        asked = {self._keys[place]: self._revisions[place] for place in places}
        self._needed = {*asked, self._anchor}
        self._let_go()
        for key, revision in asked.items():
            if key not in self._states:
                self._states[key] = "building"
                name = revision.label
                future = self._pool.submit(self._builder.build, "head", revision, name=name, trusted=True)
                self._running[future] = key

    def state(self, place: int) -> State:
        """What came of a revision that was wanted."""
        self._collect([future for future in self._running if future.done()])
        return self._states[self._keys[place]]

    def wait(self, seconds: float = 0.1) -> None:
        """Waits until a build ends, at most so long."""
        wait(self._running, seconds, FIRST_COMPLETED)

    def site(self, place: int, side: Side = "head") -> Site:
        """Where trials of a built revision run; the paths of all have the same length."""
        key = self._keys[place]
        self._held[key] = entry = self._held.pop(key)  # the last to be let go
        return Site(side, entry.tree, self._accounts[side], self._inputs.files)

    def with_room(self, place: int) -> Site | None:
        """Where a built revision lies once more, with room for a tracer in its functions; waits for it.

        None: nothing is compiled, or it cannot be built so; then a note says why.
        """
        if not self._builder.compiles:
            return None
        name = f"{self._revisions[place].label} with `{ROOM}`"
        build, entry = self._builder.build("head", self._revisions[place], name=name, room=True)
        self.builds += build.ran
        self.seconds += build.seconds
        if entry is None:
            self._notes.append(f"Calls are watched in the usual build: {build.reason}")
            return None
        self._roomy.append(entry)
        return Site("head", entry.tree, self._accounts["head"], self._inputs.files)

    def same(self, one: int, other: int) -> bool:
        """Whether two revisions have the same tree."""
        return self._keys[one] == self._keys[other]

    def _collect(self, ended: Iterable[Future[tuple[Build, Entry | None]]]) -> None:
        """Takes in builds that ended."""
        for future in list(ended):
            key = self._running.pop(future)
            build, entry = future.result()
            self.builds += build.ran
            self.seconds += build.seconds
            if entry is not None:
                self._held[key] = entry
                self._states[key] = "built"
                continue
            self.failure = self.failure or build
            full = shutil.disk_usage(self._builder.cache).free < FULL_BYTES
            self._states[key] = "cut" if full or self._builder.stopped() else "failed"
            if full:
                self._notes.append(build.reason)

    def _let_go(self) -> None:
        """Makes room on the disk and among open files by trees that nobody waits for."""
        for key in [key for key in self._held if key not in self._needed]:
            short = shutil.disk_usage(self._builder.cache).free < ROOM_BYTES
            if not short and len(self._held) < MOST_HELD:
                return
            entry = self._held.pop(key)
            del self._states[key]  # it will be built or taken from the cache again
            if short:
                with suppress(OSError):
                    entry.clear_if_unused()
            entry.close()

    def _prepare(self, place: int) -> bool:
        """Makes the workloads in a copy of the anchor; whether that went well."""
        label = self._revisions[place].label
        kitchen = Kitchen(
            self.scratch,
            trees={"base": self._held[self._keys[place]].tree},
            accounts=self._accounts,
            shell=self._builder.shell,
            names={"base": label},
        )
        self._inputs = kitchen.prepare(self._subject)
        self.failure = self._inputs.failures.get("base")
        if self.failure is None and place != len(self._revisions) - 1:
            last = self._revisions[-1].label
            self._notes.append(f"{last} cannot be built: all were compared with {label} instead.")
        return self.failure is None


def _backwards(last: int) -> Iterator[int]:
    """The last place, the one before, and so on at doubled distances, down to the first."""
    yield last
    distance = 1
    while distance < last:
        yield last - distance
        distance *= 2
    if last > 0:
        yield 0
