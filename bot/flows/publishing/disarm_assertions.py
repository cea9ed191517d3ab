"""What of a fork's performance assertions may be shown: numbers, outcomes, and harmless names of methods."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.flows.assertions.findings import MOST_PATHS, spelled
from bot.flows.publishing.disarm_words import FILE, METHOD, UNNAMED, WORD, kept
from bot.model.assertions import Condition
from bot.model.errors import ArtifactError, UsageError
from bot.model.report_assertions import AssertionGroup, AssertionOutcome, AssertionPath

MOST_GROUPS, MOST_CLUSTERS, MOST_EDGES, MOST_CALLERS = 50, 50, 50, 200
"""Of an assertion: far above what is mined, far below what would hurt."""
LONGEST = 2000
"""Condition, in characters."""
_EDGE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,19}")
REASON = "why is told in the pull request's own run"
HIDDEN = "(condition not shown)"


def disarmed(found: AssertionOutcome) -> AssertionOutcome:
    """A new one: sentences and the proposed entry are dropped, conditions are written anew.

    Raises:
        ArtifactError: a list is longer than any that was mined.
    """
    _bounded(found)
    names = _Names()
    edges = {label: (names[a], names[b]) for label, (a, b) in found.edges.items() if kept(label, _EDGE)}
    return AssertionOutcome(
        id=kept(found.id, WORD) or "",
        method=names[found.method],
        groups=tuple(_group(one, edges, names) for one in found.groups),
        borders_seconds=found.borders_seconds,
        outcome=found.outcome,
        edges=edges,
        file=kept(found.file, FILE),
        trials=found.trials,
        slower=found.slower,
        why=(REASON,),
        new_paths=tuple(names.path(path) for path in found.new_paths[:MOST_PATHS]),
        paths=tuple(
            AssertionPath(path=names.path(one.path), group=one.group, calls=one.calls) for one in found.paths
        ),
    )


class _Names(dict[str, str]):
    """Method -> its name if harmless; the others are numbered, so that they stay different ones."""

    hidden = 0

    def __missing__(self, method: str) -> str:
        shown = kept(method, METHOD)
        if shown is None:
            self.hidden += 1
            shown = UNNAMED if self.hidden == 1 else f"{UNNAMED} {self.hidden}"
        self[method] = shown
        return shown

    def path(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """The callers nearest to the method, and the method."""
        return tuple(self[method] for method in path[-MOST_CALLERS:])


def _group(group: AssertionGroup, edges: Mapping[str, tuple[str, str]], names: _Names) -> AssertionGroup:
    condition = _condition(group.when, edges)
    return AssertionGroup(
        expression=spelled(condition) if condition else HIDDEN,
        when=condition.text if condition else HIDDEN,
        expected=group.expected,
        observed=group.observed,
        base=group.base,
        calls=group.calls,
        ratio=group.ratio,
        interval=group.interval,
        outcome=group.outcome,
        paths=tuple(names.path(path) for path in group.paths[:MOST_PATHS]),
    )


def _condition(text: str, edges: Mapping[str, tuple[str, str]]) -> Condition | None:
    """What it says and no more: words of the language, names of edges, and parentheses."""
    if len(text) > LONGEST:
        return None
    try:
        return Condition(" ".join(re.findall(r"\w+|[()]", text)), edges)
    except UsageError:
        return None


def _bounded(found: AssertionOutcome) -> None:
    shares = [shares for one in found.groups for shares in (one.expected, one.observed, one.base)]
    lengths = (
        (len(found.groups), MOST_GROUPS),
        (len(found.edges), MOST_EDGES),
        (len(found.paths), MOST_PATHS),
        (len(found.borders_seconds), MOST_CLUSTERS),
        (max(map(len, shares), default=0), MOST_CLUSTERS),
    )
    if any(length > most for length, most in lengths):
        raise ArtifactError("the report has an assertion that is longer than any")
