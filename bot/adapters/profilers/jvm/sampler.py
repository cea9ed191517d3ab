"""Coarse profiles of JVM programs: stacks from a flight recording, and exact calls from our agent."""

from __future__ import annotations

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bot.adapters.profilers.call_tree import CallTree, TreeCosts, tree_costs
from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.jvm.agent import counted
from bot.adapters.profilers.jvm.recording import Recorded, recorded_trial
from bot.adapters.profilers.jvm.sources import Placed
from bot.adapters.profilers.launching import Launched, another_fits
from bot.adapters.profilers.reports import clean_name
from bot.model.profiles import Method, Profile, Target, Tool

ENOUGH_SAMPLES, MOST_ROUNDS = 4000, 3
"""A trial is recorded until there are so many samples, or so often: what is compiled when differs from trial
to trial, which moves the shares of a short one more than chance does."""
RECORDING_SHARE = 0.5
"""Of the time there is for a profile; the rest is for counting calls and for reading source texts."""
FEW_SAMPLES, MOST_ROUNDS_OF_FEW = 400, 6
"""Below this many, the share even of a dominant method is rough: its standard deviation exceeds 5 %."""
WORTH = 0.5
"""CPU-time samples (JDK 25) are taken for shares from this part of the others' number on: timers of many
kernels tick only every 4 ms, and then the others, four times as many, are less rough."""
_VERSION = re.compile(r"\((\d[\w.+-]*)\)")


class JvmSampler:
    """JFR's samples of all JVMs of a trial, run again when it is short.

    counts: one more trial counts the calls, which are None otherwise.
    """

    def __init__(self, *, counts: bool = True) -> None:
        self._counts = counts

    @property
    def tool(self) -> Tool:
        """What it is, costs and cannot see."""
        return Tool(
            name="Java flight recording",
            version="",
            grain="coarse",
            quantities=frozenset({"seconds", "edges", "calls"} if self._counts else {"seconds", "edges"}),
            slowdown=2.5 if self._counts else 1.1,
            blind=(
                "The JDK's own code counts to the program's methods that called it.",
                "Starting a recording takes a JVM half a second to a second.",
                "JVMs that are killed or halted leave no profile.",
                "The compiler moves time between methods that it inlines.",
                "In short trials compilers never finish: what one method costs them, others save.",
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not."""
        return toolchain.what_is_missing(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:  # noqa: ARG002 - sees all
        """Recorded trials, and one in which calls are counted if that was asked for."""
        javac = toolchain.compiler(target)
        if javac is None:
            return Profile(self.tool, "not-started", 0.0, notes=tuple(self.missing(target)))
        try:
            events = (toolchain.HERE / "sampling.jfc").read_text(encoding="utf-8")
            began = time.monotonic()
            rounds = [recorded_trial(target, events, javac=javac)]
            while _worth_another(rounds) and another_fits(
                began, len(rounds), RECORDING_SHARE * target.seconds
            ):
                rounds.append(recorded_trial(target, events, javac=javac))
            launched, all_recorded = rounds[-1][0], [recorded for _, recorded in rounds]
            cpu = sum(one.cpu for one, _ in rounds) / len(rounds)
            profile = Profile(self.tool, launched.outcome, cpu)
            calls: dict[str, int] = {}
            notes: list[str] = []
            if self._counts and profile.outcome == "ok":
                trial = counted(target, toolchain.agent_jar(javac))
                if trial.launched.outcome == "ok":
                    notes = list(trial.notes)
                    for report in trial.reports:
                        calls = report.calls
                        if report.damaged:
                            notes.append(f"{report.damaged} counts of calls were damaged and left out.")
                else:
                    notes = [trial.launched.ended.reason("The trial whose calls were counted")]
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror or error}",))
        profile = replace(profile, notes=(*profile.notes, *notes))
        return _explained(profile, all_recorded, calls, target)


def _worth_another(rounds: Sequence[tuple[Launched, Recorded]]) -> bool:
    """Whether a further round is needed: a few more than usual where trials are short, none without."""
    samples = sum(_samples(recorded).total() for _, recorded in rounds)
    most = MOST_ROUNDS if samples >= FEW_SAMPLES else MOST_ROUNDS_OF_FEW
    return rounds[-1][0].outcome == "ok" and 0 < samples < ENOUGH_SAMPLES and len(rounds) < most


def _samples(recorded: Recorded) -> Counter[int]:
    """The better samples of a recording, by node."""
    cpu, execution = Counter(recorded.cpu), Counter(recorded.execution)
    return cpu if cpu.total() > 0 and cpu.total() >= WORTH * execution.total() else execution


def _explained(
    profile: Profile, rounds: Sequence[Recorded], calls: Mapping[str, int], target: Target
) -> Profile:
    """Names what was recorded in all rounds and sums it up for one."""
    sources = Placed(target, [*_asked(rounds), *((name, None) for name in calls)])
    costs, whole = _costs(rounds, sources)
    samples = sum(_samples(recorded).total() for recorded in rounds)
    version = _VERSION.search(rounds[0].version)
    notes = [*profile.notes, *sources.notes, *(note for recorded in rounds for note in recorded.notes)]
    if 0 < samples < FEW_SAMPLES:
        notes.append(f"Only {samples} samples: shares are rough.")
    known = Counter[Method]()
    seen = {method.name: method for method in costs.total}
    for name, count in calls.items():
        known[seen.get(clean_name(name)) or sources.method(name)] += count
    return replace(
        profile,
        tool=replace(profile.tool, version=clean_name(version[1]) if version else ""),
        methods=costs.methods(seen=whole, calls=known),
        edges=costs.edge_costs(),
        samples=samples,
        notes=tuple(dict.fromkeys(notes)),
        trials=[_alone(profile, recorded, sources) for recorded in rounds],
    )


def _alone(profile: Profile, recorded: Recorded, sources: Placed) -> Profile:
    """The time in one of the trials."""
    costs, seen = _costs([recorded], sources)
    return replace(profile, methods=costs.methods(seen=seen), samples=_samples(recorded).total(), notes=())


def _costs(rounds: Sequence[Recorded], sources: Placed) -> tuple[TreeCosts, float]:
    """What methods cost in a trial, the mean of these, and CPU seconds of all that was seen of it."""
    tree = CallTree()
    for recorded in rounds:
        _graft(tree, recorded, sources, trials=len(rounds))
    spent = sum(one.running + one.compiling + one.collecting for one in rounds) / 1e9 / len(rounds)
    return tree_costs(tree), max(sum(tree.own), spent)


def _asked(rounds: Sequence[Recorded]) -> Iterator[tuple[str, int | None]]:
    """Methods that are to be placed, as `_graft` asks for them."""
    for recorded in rounds:
        lines = _lines(recorded)
        for number, (name, orphan) in enumerate(recorded.methods):
            if name:
                yield name, lines.get(number)
            if orphan:
                yield orphan, None


def _lines(recorded: Recorded) -> Mapping[int, int]:
    """The first line that was seen of each method."""
    lines: dict[int, int] = {}
    for _, method, line, _ in recorded.nodes:
        if line:
            lines[method] = min(line, lines.get(method, line))
    return lines


def _graft(tree: CallTree, recorded: Recorded, sources: Placed, *, trials: int) -> None:
    """Adds the stacks of one of so many trials to the tree, in CPU seconds of the programs' threads."""
    lines = _lines(recorded)
    named = [
        (sources.method(name, lines.get(n)) if name else None, sources.method(orphan) if orphan else None)
        for n, (name, orphan) in enumerate(recorded.methods)
    ]
    samples = _samples(recorded)
    number = samples.total()
    # A JVM that did not tell its threads' CPU time was to be sampled every millisecond.
    weight = (recorded.running / number if recorded.running else 1e6) if number else 0.0
    by_node, unseen = served(recorded, samples)
    numbers: list[int] = []
    has_caller: list[bool] = []
    for node, (parent, method, _, _) in enumerate(recorded.nodes):
        caller = parent >= 0 and has_caller[parent]
        mine = named[method][0] or (None if caller else named[method][1])
        has_caller.append(caller or mine is not None)
        above = numbers[parent] if parent >= 0 else -1
        own = (weight * samples[node] + by_node[node]) / 1e9 / trials
        numbers.append(tree.add(above, mine, own, samples=samples[node]))
    for method, nanoseconds in unseen.items():
        tree.add(-1, named[method][0], nanoseconds / 1e9 / trials)


def served(recorded: Recorded, samples: Counter[int]) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """Nanoseconds of collectors and compilers by node, and by method where no sample has it; all of it.

    Collections count to who allocated, by bytes, and the compilation of a method to where its code was
    sampled, be it of a method inlined in it.
    """
    by_node: defaultdict[int, float] = defaultdict(float)
    allocated = sum(recorded.allocated.values())
    for node, size in recorded.allocated.items():
        by_node[node] += recorded.collecting * size / max(allocated, 1)
    each = recorded.compiling / max(recorded.compiled.total(), 1)
    units: list[int] = []
    for parent, method, _, inlined in recorded.nodes:
        units.append(units[parent] if inlined and parent >= 0 else method)
    sampled = Counter[int]()
    for node, count in samples.items():
        sampled[units[node]] += count
    for node, count in samples.items():
        by_node[node] += each * recorded.compiled[units[node]] * count / max(sampled[units[node]], 1)
    return by_node, {m: each * took for m, took in recorded.compiled.items() if not sampled[m]}
