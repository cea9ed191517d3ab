"""Names nothing, or should: base against the same base, counted as a pull request counts.

python -m benchmarks.resources.false_names --place /tmp/place [--seeds 1000:1204] [--seconds 3000]

A name is false whichever way the time is said to have moved: both ways are asked. Results as known_heads.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.resources.heads import Yard, again, counted, keep, missing, publish, read, stored
from benchmarks.resources.known_heads import arguments
from benchmarks.resources.subjects import SUBJECTS
from bot.analysis.resources.naming import LEAST_CHANGE, LEAST_EVENTS, SPREADS
from bot.flows.resources.counting import TRACED
from bot.model.resources import UNITS, Count

PROGRAMS = (
    *("xz", "sqlite3", "jq", "sort") * 2,
    *("json.tool", "tokenize", "json.tool", "tokenize", "json.tool"),
    *("npm", "javac", "javac", "javac"),
)
"""In turn: C, Python, Node, JVM."""
SHOWN: tuple[Count, ...] = (
    *("instructions", "first_misses", "page_faults", "memory_calls"),
    *("filesystem_calls", "ipc_calls", "other_calls"),
)
FEW = 2 * LEAST_EVENTS
SECONDS = {"c": 60.0, "python": 60.0, "node": 900.0, "jvm": 900.0}
"""For counting, by how work is planted; a pull request has 60, on a machine that does nothing else.

Much more for runtimes that compile: in a pull request they are hardly ever simulated, and nothing is named.
Up to seed 1203 these had 240, too.
"""


def compare(yard: Yard, path: Path, *, programs: Sequence[str], seeds: range, seconds: float) -> None:
    """Counts the comparisons that `path` has not yet."""
    for seed in missing(path, seeds, seconds):
        subject = SUBJECTS[programs[seed % len(programs)]]
        bench = yard.bench(subject, {}, {})
        for source in TRACED:  # once for all comparisons, which a pull request cannot do: not on its clock
            bench.start_up("base", source)
        bench.spent = 0.0
        bench.count("base", (), "usage")
        runs, free = counted(bench, sign=1.0, until=SECONDS[subject.kind], alone=bench.spent)
        line = {"seed": seed, "program": subject.name, "seconds": bench.spent, "counts": stored(runs, free)}
        keep(path, line)
        print(seed, subject.name, names(line), f"{bench.spent:.0f} s", flush=True)


def names(kept: Mapping[str, Any]) -> list[str]:
    """What is named when the time moved up, and when it moved down."""
    return [one.feature for sign in (1.0, -1.0) for one in again(kept["counts"], sign).features]


def gate(found: Sequence[Mapping[str, Any]], count: Count) -> str:
    """Growth from which on a count can be named: five spreads of equal trials, or what is worth a word."""
    groups = [
        [run[count] for run in (*k["counts"]["base"], *k["counts"]["head"]) if count in run] for k in found
    ]
    groups = [values for values in groups if len(values) > 1]
    mean = float(np.mean([n for values in groups for n in values])) if groups else 0.0
    if mean < FEW:
        return "-"
    spread = SPREADS * math.sqrt(2 * float(np.mean([np.var(values, ddof=1) for values in groups])))
    return f"{max(spread / mean, LEAST_EVENTS / mean, LEAST_CHANGE):.1%}"


def power(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """A table: by program, the gate of each count."""
    lines = [
        f"Growth from which on a count can be named (fewer than {FEW:.0f} events, or not counted: -):",
        "",
        f"| program | {' | '.join(UNITS[count] for count in SHOWN)} |",
        f"|---|{'---:|' * len(SHOWN)}",
    ]
    for program in sorted(set(PROGRAMS)):
        own = [kept for kept in found if kept["program"] == program]
        lines.append(f"| {program} | {' | '.join(gate(own, count) for count in SHOWN)} |")
    return lines


def main() -> None:
    """Counts what is missing, and writes the table."""
    given = arguments("1000:1204")
    seeds, path = given.seeds, given.place / "false_names.jsonl"
    if given.seconds > 0:
        programs = given.only or PROGRAMS
        compare(Yard(given.place), path, programs=programs, seeds=seeds, seconds=given.seconds)
    groups: dict[str, list[tuple[list[str], tuple[bool, ...]]]] = defaultdict(list)
    every = [kept for kept in read(path) if kept["seed"] in seeds]
    for kept in every:
        head = kept["counts"]["head"]
        sources = tuple(any(count in run for run in head) for count in ("filesystem_calls", "instructions"))
        for group in ("all", f"{kept['program']} ({SUBJECTS[kept['program']].kind})"):
            groups[group].append((names(kept), sources))
    lines = [
        f"The same program at base and head, seeds {seeds.start} to {seeds.stop - 1}.",
        "",
        "| program | comparisons | with calls | with simulation | with a false name | named |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for group, found in sorted(groups.items(), key=lambda item: (item[0] != "all", item[0])):
        false = [named for named, _ in found if named]
        told = ", ".join(sorted({name for named in false for name in named}))
        calls, simulated = (sum(sources[place] for _, sources in found) for place in (0, 1))
        lines.append(f"| {group} | {len(found)} | {calls} | {simulated} | {len(false)} | {told} |")
    text = "\n".join([*lines, "", *power(every)]) + "\n"
    publish("false_names.md", text, seeds)


if __name__ == "__main__":
    main()
