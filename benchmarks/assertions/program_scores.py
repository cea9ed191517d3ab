"""What executions of mining say together: are their models alike, small, cheap, and of what is hot."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from benchmarks.assertions.subjects import PROGRAMS, USUAL
from bot.analysis.assertions.comparing import Alignment, aligned, merged
from bot.analysis.assertions.modelling import model
from bot.analysis.assertions.replication import replicated
from bot.analysis.assertions.wording import asserted
from bot.flows.assertions.mining_state import Mined
from bot.model.assertions import PathModel

ALIGNED, OF_MODELS, ELSEWHERE = 0.8, 0.9, 0.75
MODELS, HOT, ATOMS, MEDIAN_ATOMS, OVER, SHIFT = 20, 0.7, 8, 3, 1.3, 0.1
"""Targets."""
ASKED = {"same": 0.5, "load": 0.5, "tenth": 0.1, "twentieth": 0.05, "flags": 0.5}
"""Kinds of executions, and the overhead that each may have."""
KINDS = {"flags": "other flags", "load": "other load"}
LEAST = 2
"""Groups from which on a model says something of call paths."""


REASONS = """
## What stands in the way

* Why models differ: a border in a shallow valley is found once and not again, and groups whose shares hardly
  differ are cut otherwise. Were none refused that half of the trials would not have found, 75 to 78 % of
  SQLGlot's models would be aligned; adjusted for chance, agreement is good in the median (0.90 to 1.00), and
  poor for methods with one large group. Of all comparisons of usual executions, 94 % of the processes'
  and the threads' and 96 % of SQLGlot's are aligned.
* 20 models of two or more groups are a matter of time: with an overhead of 50 % most executions have them in
  300 seconds (the fewest 16; the five together 36, 38 and 43 methods), with 5 % none. The paper has no such
  number: it shows box plots of its models.
* 70 % of the hot time: the paper finds hot functions, and then goes up the call tree, which "incrementally
  covers" the program. A mined method's calls take their time with all that they call: within them lies 98
  to 100 % of SQLite's time, and 77 to 92 % of SQLGlot's (with an overhead of 5 or 10 %, 56 and 60 %). Of
  the hottest methods' own time (five usual executions of each program, medians of processes, threads,
  SQLGlot) 38, 36 and 38 % is in mined methods, 64, 64 and 78 % in these and what they call directly, 81, 79
  and 86 % within two calls of them, but 54 % in the first of the processes'. The rest is in calls that no
  tool here can time to a tenth. Of SQLite's forty hottest functions some thirty take less than 0.4 us a
  call, many 0.05 us, where an entry and an exit take uftrace 0.1 us; many of Python's take 1 to 3 us, where
  the agent takes 0.5 or more. Sampling calls makes that cheaper, but each of the timed ones is as much
  longer. What such functions cost lengthens the calls of their callers, which are mined.
"""


@dataclass(frozen=True)
class Execution:
    """What one run of mining came to, in so many seconds."""

    program: str
    kind: str
    number: int
    seconds: float
    mined: Mined

    @property
    def told(self) -> str:
        """In one line."""
        m, refused = self.mined, {why: len(those) for why, those in self.mined.refused.items()}
        grouped = sum(len(one.groups) >= LEAST for one in m.models)
        added = "not measured" if m.overhead is None else f"{m.overhead:.1%}"
        return (
            f"{self.program} {self.kind} {self.number}: {self.seconds:.0f} s, {m.trials} trials,"
            f" {len(m.models)} models, {grouped} of groups, hot {m.hot[1]:.2f} of {m.hot[0]:.2f},"
            f" overhead {added}, finished {m.finished}, refused {refused}"
        )

    @cached_property
    def models(self) -> dict[str, PathModel]:
        """By method, as the analysis is now: what was observed is kept, and models are derived."""
        seen = self.mined.observations
        made = ((method, replicated(method.name, method.file, those)) for method, those in seen.items())
        return {method.name: one for method, one in made if one is not None}

    @cached_property
    def every(self) -> dict[str, PathModel]:
        """Also those that half of the trials would not have found."""
        seen = self.mined.observations
        return {method.name: model(method.name, method.file, those) for method, those in seen.items()}

    @property
    def grouped(self) -> dict[str, PathModel]:
        """Those of two or more groups."""
        return {name: model for name, model in self.models.items() if len(model.groups) >= LEAST}


def markdown(executions: Sequence[Execution]) -> str:
    """All tables."""
    by_program = {name: found for name in PROGRAMS if (found := [e for e in executions if e.program == name])}
    parts = [
        "# Mining real programs\n",
        "`python -m benchmarks.assertions.programs DIR --budget 300`, on a busy machine; seconds are of CPU",
        f"time. Those compared may have an overhead of {ASKED['same']:.0%}, for they come to more models.\n",
        *(
            f"* {name}: {what}" + (f", built with {USUAL[name]}" if USUAL[name] else "")
            for name, what in PROGRAMS.items()
            if name in by_program
        ),
        "",
        *_reliability(by_program),
        *_elsewhere(by_program),
        *_size(by_program),
        *_cost(by_program),
        *_covered(by_program),
        *_refused(by_program),
        REASONS,
    ]
    return "\n".join(parts) + "\n"


def _same(executions: Sequence[Execution]) -> list[Execution]:
    return sorted((e for e in executions if e.kind == "same"), key=lambda e: e.number)


def compared(before: Sequence[Execution], new: Execution, *, every: bool = False) -> dict[str, Alignment]:
    """By method that is in the new execution and in those before, whose models are merged.

    Where both have one group only, or one path, there is nothing to compare: they are left out. every: also
    models that half of the trials would not have found.
    """
    known: dict[str, list[PathModel]] = defaultdict(list)
    for execution in before:
        for name, mined in (execution.every if every else execution.models).items():
            known[name].append(mined)
    now = new.every if every else new.models
    pairs = {n: (reduce(merged, known[n]), m) for n, m in now.items() if n in known}
    found = {n: aligned(a, b) for n, (a, b) in pairs.items() if max(len(a.groups), len(b.groups)) >= LEAST}
    return {n: alignment for n, alignment in found.items() if alignment.known >= LEAST}


def _row(found: dict[str, Alignment], *, least: float) -> list[str]:
    if not found:
        return ["0"] + ["-"] * 5
    calls, paths, rand = (
        np.array([getattr(a, name) for a in found.values()]) for name in ("calls", "paths", "agreement")
    )
    return [
        str(len(found)),
        f"{np.mean(calls >= least):.0%}",
        f"{np.median(calls):.0%}, {np.quantile(calls, 0.1):.0%}",
        f"{np.mean(paths >= least):.0%}",
        f"{np.median(paths):.0%}, {np.quantile(paths, 0.1):.0%}",
        f"{np.median(rand):.2f}, {np.quantile(rand, 0.1):.2f}",
    ]


HEAD = (
    "compared | aligned by calls: >= {least:.0%} | median, 10 % quantile | by paths: >= {least:.0%} "
    "| median, 10 % quantile | adjusted Rand: median, 10 % quantile |"
)


def _reliability(by_program: dict[str, list[Execution]]) -> list[str]:
    lines = [
        "## RQ1: the same again\n",
        f"Each execution against the merged models of those before it, where one of the two has {LEAST}",
        f"groups or more. Target: {ALIGNED:.0%} of calls for {OF_MODELS:.0%} of models. Last columns: as if",
        "no model were refused because half of the trials would not have found it.\n",
        f"| program | execution | {HEAD.format(least=ALIGNED)} target | all: compared | aligned |",
        "|---|---|---:|---:|---:|---:|---:|---:|---|---:|---:|",
    ]
    for name, executions in by_program.items():
        same = _same(executions)
        for place in range(1, len(same)):
            found = compared(same[:place], same[place])
            met = bool(found and np.mean([a.calls >= ALIGNED for a in found.values()]) >= OF_MODELS)
            cells = [name, f"#{place + 1}", *_row(found, least=ALIGNED), _met(met)]
            cells += _row(compared(same[:place], same[place], every=True), least=ALIGNED)[:2]
            lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _elsewhere(by_program: dict[str, list[Execution]]) -> list[str]:
    lines = [
        "## RQ2: built and loaded otherwise\n",
        f"Against the merged models of all usual executions. Target: {ELSEWHERE:.0%} of calls.\n",
        f"| program | with | {HEAD.format(least=ELSEWHERE)} all calls aligned | target |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for name, executions in by_program.items():
        for one in (e for e in executions if e.kind in KINDS):
            found = compared(_same(executions), one)
            weights = {n: sum(g.calls for g in one.models[n].groups) for n in found}
            share = sum(found[n].calls * weights[n] for n in found) / max(sum(weights.values()), 1)
            cells = [
                name,
                KINDS[one.kind],
                *_row(found, least=ELSEWHERE),
                f"{share:.0%}",
                _met(share >= ELSEWHERE),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""] if any(e.kind in KINDS for found in by_program.values() for e in found) else []


def _size(by_program: dict[str, list[Execution]]) -> list[str]:
    lines = [
        "## RQ3: size of assertions\n",
        "Atoms: distinct call edges of an assertion of two or more groups, over all executions.\n",
        f"| program | number | median (target {MEDIAN_ATOMS}) | most (target {ATOMS}) | with gaps | target |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for name, executions in by_program.items():
        found = [
            a
            for e in executions
            for m in e.grouped.values()
            if (a := asserted(m, mined="", trials=1)) is not None
        ]
        atoms = [len(a.atoms) for a in found if a.atoms]
        gaps = sum(any("…" in edge for edge in a.atoms) for a in found)
        if atoms:
            met = max(atoms) <= ATOMS and bool(np.median(atoms) <= MEDIAN_ATOMS) and not gaps
            lines.append(
                f"| {name} | {len(atoms)} | {np.median(atoms):g} | {max(atoms)} | {gaps} | {_met(met)} |"
            )
    return [*lines, ""]


def _cost(by_program: dict[str, list[Execution]]) -> list[str]:
    lines = [
        "## RQ4 and RQ5: overhead and perturbation\n",
        "Overhead: CPU seconds that watching added to all trials, with and without. Shift: by how much of a",
        "method's median call the tool may be wrong, half of its own part, which is taken off (shifts.md).\n",
        "| program | asked for | overhead, each execution | target | shift: median, most | target |",
        "|---|---:|---|---|---:|---|",
    ]
    for name, executions in by_program.items():
        for asked in sorted(set(ASKED.values())):
            some = [e for e in executions if ASKED[e.kind] == asked]
            added = [e.mined.overhead for e in some if e.mined.overhead is not None]
            shifts = [s for e in some for s in e.mined.shifts.values()]
            if added and shifts:
                cells = [name, f"{asked:.0%}", ", ".join(f"{a:.1%}" for a in added)]
                cells += [_met(max(added) <= OVER * asked), f"{np.median(shifts):.1%}, {max(shifts):.1%}"]
                lines.append(f"| {' | '.join([*cells, _met(max(shifts) <= SHIFT)])} |")
    return [*lines, ""]


def _covered(by_program: dict[str, list[Execution]]) -> list[str]:
    lines = [
        "## What was mined\n",
        f"Targets: {MODELS} models of two or more groups; {HOT:.0%} of the time within calls of mined",
        "methods, with what they call. Own: of the hottest methods' own time, that of the mined ones.\n",
        "| program | execution | s | trials | models | of groups | target | within calls | target"
        " | own | done |",
        "|---|---|---:|---:|---:|---:|---|---:|---|---:|---|",
    ]
    for name, executions in by_program.items():
        for e in sorted(executions, key=lambda e: (e.kind != "same", e.kind, e.number)):
            hot, covered = e.mined.hot
            cells = [
                name,
                f"{e.kind} {e.number}",
                f"{e.seconds:.0f}",
                str(e.mined.trials),
                str(len(e.models)),
            ]
            cells += [str(len(e.grouped)), _met(len(e.grouped) >= MODELS)]
            cells += [f"{e.mined.within:.0%}", _met(e.mined.within >= HOT), f"{covered / max(hot, 1e-9):.0%}"]
            lines.append(f"| {' | '.join([*cells, 'yes' if e.mined.finished else 'no'])} |")
    return [*lines, ""]


def _refused(by_program: dict[str, list[Execution]]) -> list[str]:
    lines = ["## Refused methods\n", "| program | reason | methods, on average |", "|---|---|---:|"]
    for name, executions in by_program.items():
        reasons: Counter[str] = Counter()
        for e in executions:
            reasons.update({why: len(those) for why, those in e.mined.refused.items()})
        for why, count in reasons.most_common():
            lines.append(f"| {name} | {why} | {count / len(executions):.1f} |")
    return lines


def _met(met: bool) -> str:
    return "met" if met else "**missed**"
