"""Performance assertions: how long the calls of a method take, relatively, depending on how it is reached."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bot.model.errors import UsageError

CallEdge: TypeAlias = tuple[str, str]
"""Names of a caller and of what it calls."""
NamedPath: TypeAlias = tuple[str, ...]
"""Names from the outermost known caller to the method itself."""
GAP = "…"
"""In a path, callers that were not watched."""
Floats: TypeAlias = NDArray[np.float64]


def edges_of(path: NamedPath) -> frozenset[CallEdge]:
    """The calls that a path is made of; recursion, order and gaps leave no trace."""
    return frozenset(edge for edge in pairwise(path) if GAP not in edge)


@dataclass(frozen=True)
class CallObservation:
    """The calls of one method in one stretch of time, a trial, by the path over which it was reached.

    start, end: seconds on the miner's clock. durations: seconds, (n_calls,) each. weight: calls that each of
    them stands for, where only some were timed or kept.
    """

    start: float
    end: float
    durations: Mapping[NamedPath, Floats]
    weight: float = 1.0

    @cached_property
    def every(self) -> Floats:
        """Durations over all paths, ascending, (n,)."""
        return np.sort(np.concatenate([np.zeros(0), *self.durations.values()]))

    def without_paths(self, method: str) -> CallObservation:
        """The same calls, however the method was reached."""
        return replace(self, durations={(method,): self.every})


@dataclass(frozen=True)
class PathGroup:
    """Paths over which calls behave alike. paths: calls that were seen. vector: share of calls by cluster."""

    paths: Mapping[NamedPath, int]
    vector: tuple[float, ...]

    @property
    def calls(self) -> int:
        """Calls that were seen over all its paths."""
        return sum(self.paths.values())


@dataclass(frozen=True)
class PathModel:
    """What was mined of one method (seeds/002, definition 7), and where its clusters end.

    places: values of the distribution function at the cluster borders, ascending, (n_clusters - 1,): they
    mean the same on every machine. borders: the borders in seconds on the machine of the model.
    """

    method: str
    file: str | None
    places: tuple[float, ...]
    borders: tuple[float, ...]
    groups: tuple[PathGroup, ...]


@dataclass(frozen=True)
class Condition:
    """A boolean expression over the names of edges: `e1 and not e2`; `always` is true.

    Raises:
        UsageError: it is none, or names an edge that is not listed.
    """

    text: str
    edges: Mapping[str, CallEdge]

    def __post_init__(self) -> None:
        """Refuses what is not an expression."""
        self._compiled  # noqa: B018  parsed once, errors come at once

    def holds(self, path: NamedPath) -> bool:
        """Whether a path fulfils it."""
        passed = edges_of(path)
        return _value(self._compiled, {name: edge in passed for name, edge in self.edges.items()})

    @property
    def atoms(self) -> frozenset[CallEdge]:
        """The edges that it speaks of."""
        names = {node.id for node in ast.walk(self._compiled) if isinstance(node, ast.Name)}
        return frozenset(self.edges[name] for name in names if name in self.edges)

    @cached_property
    def _compiled(self) -> ast.expr:
        try:
            found = ast.parse(self.text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise UsageError(f"`{self.text}` is no expression of edges, `and`, `or`, `not`") from None
        _value(found, dict.fromkeys(self.edges, False))
        return found


ALWAYS = "always"


def _value(node: ast.expr, edges: Mapping[str, bool]) -> bool:
    """Evaluates every part, so that a wrong one is found whatever the others say."""
    match node:
        case ast.BoolOp(op=ast.And(), values=parts):
            values = [_value(part, edges) for part in parts]
            return all(values)
        case ast.BoolOp(op=ast.Or(), values=parts):
            values = [_value(part, edges) for part in parts]
            return any(values)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return not _value(part, edges)
        case ast.Name(id=name) if name == ALWAYS:
            return True
        case ast.Name(id=name) if name in edges:
            return edges[name]
        case ast.Name(id=name):
            raise UsageError(f"`{name}` is not among the edges of its assertion")
    raise UsageError("an expression has only names of edges, `and`, `or`, `not` and parentheses")


@dataclass(frozen=True)
class AssertedGroup:
    """Calls over paths that fulfil a condition are expected to have these shares by cluster.

    expected: sums to one, fastest cluster first. calls: that were seen when it was mined.
    """

    when: Condition
    expected: tuple[float, ...]
    calls: int


@dataclass(frozen=True)
class Assertion:
    """A method, and how its calls behave over which paths (seeds/002, definition 8).

    places: see `PathModel`. mined: the revision, in short. trials: that were observed.
    """

    method: str
    file: str | None
    places: tuple[float, ...]
    groups: tuple[AssertedGroup, ...]
    mined: str = ""
    trials: int = 0

    @property
    def id(self) -> str:
        """The same for the same method, whatever is asserted of it."""
        return hashlib.sha256(f"{self.method}\0{self.file or ''}".encode()).hexdigest()[:10]

    def group_of(self, path: NamedPath) -> int | None:
        """The group whose condition a path fulfils; None: of none, or of several."""
        found = [i for i, group in enumerate(self.groups) if group.when.holds(path)]
        return found[0] if len(found) == 1 else None

    @property
    def atoms(self) -> Collection[CallEdge]:
        """All edges that its conditions speak of."""
        return frozenset[CallEdge]().union(*(group.when.atoms for group in self.groups))


def shares(durations: Floats, borders: Sequence[float]) -> tuple[float, ...]:
    """Share of durations (n,) in each cluster; a duration at a border belongs to the slower one."""
    places = np.searchsorted(np.asarray(borders, dtype=np.float64), durations, side="right")
    counts = np.bincount(places, minlength=len(borders) + 1)
    return tuple((counts / max(len(durations), 1)).tolist())
