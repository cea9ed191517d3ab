"""Which of the shards that lie there count: one analysis, every number once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bot.model.history import Measurements
from bot.model.report import Report
from bot.model.shards import Manifest, Shard


@dataclass(frozen=True)
class LeftShard:
    """What one job left; trials, segments: read its runs, or its files as they are (name, content).

    Both raise ArtifactError where they are not as told.
    """

    manifest: Manifest
    report: Report
    trials: Callable[[], Iterator[Measurements]]
    segments: Callable[[], Iterator[tuple[str, bytes]]] = lambda: iter(())

    @property
    def shard(self) -> Shard:
        """Which one it is."""
        return self.manifest.shard

    @property
    def content(self) -> tuple[tuple[str, str], ...]:
        """What it holds: equal for copies. Names of segments begin with their date, so newer is greater."""
        return tuple(sorted(((one.name, one.sha256) for one in self.manifest.files), reverse=True))


@dataclass(frozen=True)
class Chosen:
    """The shards that count, in order of their numbers, and what a reader must know of the others."""

    shards: tuple[LeftShard, ...]
    notes: tuple[str, ...] = ()

    @property
    def plan(self) -> Shard | None:
        """One of the plan's shards; None: there is none."""
        return self.shards[0].shard if self.shards else None


def choose(left: Sequence[LeftShard], wanted: Callable[[Shard], str] = lambda _: "") -> Chosen:
    """The shards of one plan, each once, whatever their order.

    wanted: why a shard is not asked for, "": it may be. Of several plans the one with most shards counts. Of
    several results of one shard the newest counts, as a rerun replaces what it repeats.
    """
    refused: Counter[str] = Counter()
    plans: defaultdict[str, defaultdict[int, list[LeftShard]]] = defaultdict(lambda: defaultdict(list))
    for one in left:
        if reason := wanted(one.shard):
            refused[reason] += 1
        else:
            plans[one.shard.plan][one.shard.shard].append(one)
    notes = [f"{_shards(count)} left out: {reason}." for reason, count in sorted(refused.items())]
    if not plans:
        return Chosen((), tuple(notes))
    plan = max(plans, key=lambda name: (len(plans[name]), name))
    others = sum(len(several) for name, p in plans.items() if name != plan for several in p.values())
    if others:
        notes.append(f"{_shards(others)} left out: of another plan than most.")
    found = plans[plan]
    for number, several in sorted(found.items()):
        different = len({one.content for one in several})
        if different > 1:
            notes.append(f"Shard {number} was measured {different} times: the newest result counts.")
        elif len(several) > 1:
            notes.append(f"Shard {number} lay there {len(several)} times and counts once.")
    chosen = tuple(max(found[number], key=lambda one: one.content) for number in sorted(found))
    return Chosen(chosen, (*_missing(chosen), *notes))


def _missing(chosen: Sequence[LeftShard]) -> list[str]:
    shards = chosen[0].shard.shards
    gone = sorted(set(range(shards)) - {one.shard.shard for one in chosen})
    if not gone:
        return []
    named = ", ".join(map(str, gone[:20])) + ", ..." * (len(gone) > 20)
    return [f"{len(gone)} of {shards} shards left nothing ({named}): what they were to measure is missing."]


def _shards(count: int) -> str:
    return "1 shard was" if count == 1 else f"{count} shards were"
