"""Names both classes that grew in heads with two causes of comparable cost.

python -m benchmarks.resources.two_causes --place /tmp/place [--seeds 1000:1064] [--seconds 3000]
"""

from __future__ import annotations

from benchmarks.resources.heads import Yard, again, cases, publish, read
from benchmarks.resources.known_heads import PROGRAMS, arguments


def main() -> None:
    """Counts what is missing, and writes the table of fresh seeds."""
    given = arguments("1000:1064")
    seeds, path = given.seeds, given.place / "two_causes.jsonl"
    if given.seconds > 0:
        programs = given.only or PROGRAMS
        cases(Yard(given.place), path, causes=2, programs=programs, seeds=seeds, seconds=given.seconds)
    found = [
        (
            set(kept["causes"]),
            [f.feature for f in again(kept["counts"], -1.0 if kept["faster"] else 1.0).features],
        )
        for kept in read(path)
        if kept["seed"] in seeds
    ]
    for causes, names in found:
        if not causes <= set(names):
            print(sorted(causes), "->", names)
    both = sum(causes <= set(names[:3]) for causes, names in found)
    one = sum(bool(causes & set(names[:1])) for causes, names in found)
    text = (
        f"Two classes enlarged by 5 to 30 % each, costs within a factor of 3, seeds {seeds.start} to "
        f"{seeds.stop - 1} (prior unit costs).\n\n| heads | both in the first three | one of them first |\n"
        f"|---:|---:|---:|\n| {len(found)} | {both / len(found):.0%} | {one / len(found):.0%} |\n"
    )
    publish("two_causes.md", text, seeds)


if __name__ == "__main__":
    main()
