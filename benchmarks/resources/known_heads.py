"""Names the class that grew in heads with one known cause, and with two (two_causes).

python -m benchmarks.resources.known_heads --place /tmp/place [--seeds 1000:1096] [--seconds 3000]

Counts go to --place, the table to results/; goes on where it was stopped. Seeds below 1000 were for tuning.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.resources.heads import Yard, again, cases, publish, read
from benchmarks.resources.subjects import SUBJECTS

PROGRAMS = ("xz", "bzip2", "jq", "openssl", "sqlite3", "sort", "mixed", "json.tool", "tokenize")


def ranks(path: Path, seeds: range) -> list[tuple[str, str, list[str]]]:
    """Program, class, names in order of score for each stored head with one cause."""
    return [
        (
            kept["program"],
            kept["causes"][0],
            [one.feature for one in again(kept["counts"], -1.0 if kept["faster"] else 1.0).features],
        )
        for kept in read(path)
        if kept["seed"] in seeds
    ]


def table(found: Sequence[tuple[str, str, list[str]]], seeds: range) -> str:
    """By how work is planted, and by class."""
    groups: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for program, cause, names in found:
        groups["all"].append((cause, names))
        groups[f"{program} ({SUBJECTS[program].kind})"].append((cause, names))
        groups[f"class `{cause}`"].append((cause, names))
    lines = [
        f"One class enlarged by 5 to 30 %, seeds {seeds.start} to {seeds.stop - 1} (prior unit costs).",
        "",
        "| heads | number | named first | in the first two | not named |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, several in sorted(groups.items(), key=lambda group: (group[0] != "all", group[0])):
        first = sum(names[:1] == [cause] for cause, names in several)
        two = sum(cause in names[:2] for cause, names in several)
        missed = sum(cause not in names for cause, names in several)
        n = len(several)
        lines.append(f"| {name} | {n} | {first / n:.0%} | {two / n:.0%} | {missed} |")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Given:
    """What the command line says; only: programs, none: all."""

    place: Path
    seeds: range
    seconds: float
    only: tuple[str, ...] = ()


def arguments(default: str) -> Given:
    """--place, --seeds, --seconds, --only."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", type=Path, required=True)
    parser.add_argument("--seeds", default=default)
    parser.add_argument("--seconds", type=float, default=3000.0)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    first, _, end = given.seeds.partition(":")
    return Given(given.place, range(int(first), int(end)), given.seconds, tuple(given.only))


def main() -> None:
    """Counts what is missing, and writes the table of fresh seeds."""
    given = arguments("1000:1096")
    path = given.place / "known_heads.jsonl"
    if given.seconds > 0:
        programs = given.only or PROGRAMS
        yard = Yard(given.place)
        cases(yard, path, causes=1, programs=programs, seeds=given.seeds, seconds=given.seconds)
    publish("known_heads.md", table(ranks(path, given.seeds), given.seeds), given.seeds)


if __name__ == "__main__":
    main()
