"""Coarse profiles of JVM programs: stacks from a flight recording, and exact calls from our agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from bot.adapters.profilers.call_tree import CallTree, tree_costs
from bot.adapters.profilers.jvm import toolchain
from bot.adapters.profilers.jvm.agent import attended, counts
from bot.adapters.profilers.jvm.recording import Recorded, recorded_trial
from bot.adapters.profilers.jvm.sources import Sources
from bot.adapters.profilers.reports import clean_name
from bot.model.profiles import Method, Profile, Target, Tool

PERIOD_SECONDS = 1e-3
"""Of sampling.jfc."""
FEW_SAMPLES = 400
"""Below this many, the share even of a dominant method is rough: its standard deviation exceeds 5 %."""
WORTH = 0.5
"""CPU-time samples (JDK 25) are taken for shares from this part of the others' number on: timers of many
kernels tick only every 4 ms, and then the others, four times as many, are less rough."""


class JvmSampler:
    """JFR's samples of all JVMs of a trial. counts: a second trial counts the calls, else they are None."""

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
                "The compiler moves time between methods that it inlines; garbage collection is in none.",
            ),
        )

    def missing(self, target: Target) -> Sequence[str]:
        """What it would need and has not."""
        return toolchain.what_is_missing(target)

    def profile(self, target: Target, methods: Sequence[Method] = ()) -> Profile:  # noqa: ARG002 - sees all
        """One recorded trial, and one in which calls are counted if that was asked for."""
        javac = toolchain.compiler(target)
        if javac is None:
            return Profile(self.tool, "not-started", 0.0, notes=tuple(self.missing(target)))
        try:
            events = (toolchain.HERE / "sampling.jfc").read_text(encoding="utf-8")
            launched, recorded = recorded_trial(target, events, javac=javac)
            profile = Profile(self.tool, launched.outcome, launched.cpu)
            calls: dict[str, int] = {}
            notes: list[str] = []
            if self._counts and profile.outcome == "ok":
                counted = attended(target, toolchain.agent_jar(javac), None)
                if counted.launched.outcome == "ok":
                    calls, notes = counts(counted.lines)
                    notes = [*counted.notes, *notes]
                else:
                    notes = [counted.launched.ended.reason("The trial whose calls were counted")]
        except OSError as error:
            return Profile(self.tool, "not-started", 0.0, notes=(f"No profile: {error.strerror}",))
        profile = replace(profile, notes=(*profile.notes, *notes))
        return _explained(profile, recorded, calls, target)


def _explained(profile: Profile, recorded: Recorded, calls: dict[str, int], target: Target) -> Profile:
    """Names what was recorded and sums it up."""
    cpu, execution = sum(recorded.cpu.values()), sum(recorded.execution.values())
    samples = recorded.cpu if cpu > 0 and cpu >= WORTH * execution else recorded.execution
    number = sum(samples.values())
    notes = list(recorded.notes)
    if 0 < number < FEW_SAMPLES:
        notes.append(f"Only {number} samples: shares are rough.")
    sources = Sources(target.root)
    lines: dict[int, int] = {}
    for _, method, line in recorded.nodes:
        if line:
            lines[method] = min(line, lines.get(method, line))
    named = [
        (sources.method(name, lines.get(n)) if name else None, sources.method(orphan) if orphan else None)
        for n, (name, orphan) in enumerate(recorded.methods)
    ]
    tree = CallTree()
    has_caller: list[bool] = []
    # What runs in Java, in seconds; CPU-time samples tell only how it is shared.
    # It is no more than all CPU time: on a busy machine threads are sampled that wait for a core.
    weight = min(PERIOD_SECONDS * (execution or number), profile.seconds) / number if number else 0.0
    for node, (parent, method, _) in enumerate(recorded.nodes):
        caller = parent >= 0 and has_caller[parent]
        mine = named[method][0] or (None if caller else named[method][1])
        has_caller.append(caller or mine is not None)
        tree.add(parent, mine, weight * samples.get(node, 0))
    costs = tree_costs(tree)
    known = Counter[Method]()
    seen = {method.name: method for method in costs.total}
    for name, count in calls.items():
        known[seen.get(clean_name(name)) or sources.method(name)] += count
    return replace(
        profile,
        methods=costs.methods(seen=sum(tree.own), calls=known),
        edges=costs.edge_costs(),
        samples=number,
        notes=(*profile.notes, *notes),
    )
