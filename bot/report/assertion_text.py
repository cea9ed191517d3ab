"""Performance assertions for a terminal: one line, a table as in the paper, or words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from bot.model.assertions import ALWAYS, AssertedGroup, Assertion
from bot.model.report_assertions import AssertionOutcome
from bot.report.formats import brief, clean, count, seconds

NAME = 60
"""Characters of a method's name in a line."""
CLEAR = 0.9
"""Share of calls in one cluster from which on they are said to be all in it."""


def entry_line(entry: Assertion) -> str:
    """Id, method, and how much is asserted."""
    groups, clusters = len(entry.groups), len(entry.places) + 1
    calls = sum(group.calls for group in entry.groups)
    said = f"{count(groups, 'group')}, {count(clusters, 'cluster')}, {count(calls, 'call')}"
    return f"{entry.id}  {brief(clean(entry.method), NAME)}  {said}"


def entry_table(entry: Assertion, borders: Sequence[float] = ()) -> str:
    """As table 1 of seeds/002. borders: seconds on this machine, where they are known."""
    rows = [["behavior", "when", *_clusters(entry, borders), "calls"]]
    for number, group in enumerate(entry.groups, 1):
        shares = [f"{100.0 * share:.1f} %" for share in group.expected]
        rows.append([str(number), group.when.text, *shares, f"{group.calls:,}"])
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [_heading(entry), *_edges(entry)]
    for row in rows:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        right = [cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  " + "  ".join([*left, *right]).rstrip())
    return "\n".join(lines) + "\n"


def explained(entry: Assertion) -> str:
    """In words: over which calls the method is fast, slow, or both."""
    lines = [f"  {_way(group)}, {_behaviour(group.expected)}." for group in entry.groups]
    return "\n".join([_heading(entry), *lines]) + "\n"


def outcome_lines(outcomes: Sequence[AssertionOutcome]) -> list[str]:
    """Each assertion's outcome with its reasons, the violated ones first; then how many there are of each."""
    order = ("violated", "undecided", "held")
    lines = []
    for one in sorted(outcomes, key=lambda o: order.index(o.outcome)):
        lines.append(f"{one.outcome}  {one.id}  {clean(one.method)}")
        if one.outcome != "held":
            lines += [f"  {clean(why)}" for why in one.why]
    counts = Counter[str](one.outcome for one in outcomes)
    return [*lines, ", ".join(f"{counts[outcome]} {outcome}" for outcome in order)]


def _heading(entry: Assertion) -> str:
    place = f" ({clean(entry.file)})" if entry.file else ""
    origin = f", mined at {clean(entry.mined)}" if entry.mined else ""
    trials = f" from {count(entry.trials, 'trial')}" if entry.trials else ""
    return f"{entry.id}  {clean(entry.method)}{place}{origin}{trials}"


def _edges(entry: Assertion) -> Iterator[str]:
    named = {name: edge for group in entry.groups for name, edge in group.when.edges.items()}
    for name, edge in sorted(named.items()):
        if edge in entry.atoms:
            yield f"  {name}: {' > '.join(map(clean, edge))}"


def _clusters(entry: Assertion, borders: Sequence[float]) -> list[str]:
    if len(borders) != len(entry.places):
        return [f"cluster {k}" for k in range(1, len(entry.places) + 2)]
    if not borders:
        return ["any time"]
    ends = [seconds(border) for border in borders]
    between = [f"{low} to {high}" for low, high in pairwise(ends)]
    return [f"t < {ends[0]}", *between, f"t >= {ends[-1]}"]


def _way(group: AssertedGroup) -> str:
    text = group.when.text
    if text == ALWAYS:
        return "However it is reached"
    edges = {name: " > ".join(map(clean, edge)) for name, edge in group.when.edges.items()}
    return "Reached " + re.sub(r"\w+", lambda word: _over(word[0], edges), text)


def _over(word: str, edges: Mapping[str, str]) -> str:
    return f"over {edges[word]}" if word in edges else word


def _behaviour(expected: Sequence[float]) -> str:
    names = _names(len(expected))
    share, most = max((share, k) for k, share in enumerate(expected))
    if share >= CLEAR:
        return f"its calls are {names[most]} ({100.0 * share:.0f} %)"
    parts = [f"{100.0 * s:.0f} % {names[k]}" for k, s in enumerate(expected) if round(100.0 * s)]
    return f"its calls are {', '.join(parts)}"


def _names(clusters: int) -> list[str]:
    """The fastest cluster's name first."""
    if clusters == 1:
        return ["alike"]
    middle = ["in between"] if clusters == 3 else [f"in cluster {k}" for k in range(2, clusters)]
    return ["fast", *middle, "slow"]
