"""History of profiles: what each method cost in each profiled trial of a run, in columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bot.model.history import OUTCOMES, Columnar, RunRecord, canonical
from bot.model.profiles import Method, MethodCost, Profile
from bot.model.report import RevisionRef
from bot.model.space import Value

NO_METHOD = NO_COUNT = -1
"""Code in `ProfileTable.method` of a profile's one row without methods; a count that the tool cannot tell."""
MOST_METHODS = 10_000
"""Methods of a profile that are kept, those with the largest shares."""
MOST_COUNT = 2**62
EXACTNESS = 2.0**-20
"""Part of a profile's total to which shares and seconds are kept."""

PROFILE_COLUMNS: Mapping[str, type[np.generic]] = {
    "run": np.int32,
    "revision": np.int32,
    "configuration": np.int32,
    "tool": np.int16,
    "profile": np.int32,
    "drawn": np.bool_,
    "outcome": np.int8,
    "seconds": np.float64,
    "unprofiled": np.float64,
    "method": np.int32,
    "self_share": np.float64,
    "self_seconds": np.float64,
    "calls": np.int64,
    "instructions": np.int64,
}
PROFILE_TABLES: Mapping[str, str] = {
    "runs": "run",
    "revisions": "revision",
    "configurations": "configuration",
    "tools": "tool",
    "methods": "method",
}


@dataclass(frozen=True)
class ProfileTable(Columnar):
    """Profiles of some runs in long form: a row for each method of each profile, in order of profiling.

    A profile that shows no method is one row without (`NO_METHOD`), so that no failure is lost.
    """

    kinds = PROFILE_COLUMNS
    tables = PROFILE_TABLES
    tools: tuple[str, ...]
    """Name and version of each profiler."""
    methods: tuple[Method, ...]
    """As in the build that was profiled: the same method with another line is another entry."""
    tool: NDArray[np.int16]
    profile: NDArray[np.int32]
    """Number of the profile in its run."""
    drawn: NDArray[np.bool_]
    """Whether the configuration was drawn at random from all valid ones, not chosen for what it shows."""
    outcome: NDArray[np.int8]
    """Code into `OUTCOMES`, of the profiled trial."""
    seconds: NDArray[np.float64]
    """CPU seconds of the profiled trial, tool included."""
    unprofiled: NDArray[np.float64]
    """CPU seconds of the same trial without a profiler; NaN: not known."""
    method: NDArray[np.int32]
    self_share: NDArray[np.float64]
    """As in `MethodCost`."""
    self_seconds: NDArray[np.float64]
    """As in `MethodCost`, of the profiled trial; NaN: the tool cannot tell."""
    calls: NDArray[np.int64]
    """`NO_COUNT`: the tool cannot tell."""
    instructions: NDArray[np.int64]
    """`NO_COUNT`: the tool cannot tell."""


class ProfileRecorder:
    """Profiles in, a table out; profiles that the budget cut are left out."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in PROFILE_COLUMNS}
        self._revisions: dict[str, tuple[int, RevisionRef]] = {}
        self._configurations: dict[str, tuple[int, Mapping[str, Value]]] = {}
        self._tools: dict[str, int] = {}
        self._methods: dict[tuple[Method, int | None], int] = {}
        self._profiles = 0

    def __len__(self) -> int:
        """Rows so far."""
        return len(self._columns["method"])

    def add(
        self,
        profile: Profile,
        revision: RevisionRef,
        configuration: Mapping[str, Value],
        *,
        drawn: bool = False,
        unprofiled: float = float("nan"),
    ) -> None:
        """Takes one profile, and the CPU seconds of its trial without a profiler."""
        if profile.outcome == "cut":
            return
        key, tool = canonical(configuration), f"{profile.tool.name} {profile.tool.version}"
        same = {
            "run": 0,
            "revision": self._revisions.setdefault(revision.revision, (len(self._revisions), revision))[0],
            "configuration": self._configurations.setdefault(key, (len(self._configurations), configuration))[
                0
            ],
            "tool": self._tools.setdefault(tool, len(self._tools)),
            "profile": self._profiles,
            "drawn": drawn,
            "outcome": OUTCOMES.index(profile.outcome),
            "seconds": profile.seconds,
            "unprofiled": unprofiled,
        }
        self._profiles += 1
        kept = sorted(profile.methods.items(), key=lambda i: -i[1].self_share)[:MOST_METHODS]
        # In the same order in every profile: what repeats itself is stored in a few bytes.
        coded = sorted(((self._code(method), cost) for method, cost in kept), key=lambda i: i[0])
        coded = coded or [(NO_METHOD, MethodCost(0.0))]
        total = sum(cost.self_seconds or 0.0 for _, cost in kept)
        for name, value in same.items():
            self._columns[name] += [value] * len(coded)
        for method, cost in coded:
            self._columns["method"].append(method)
            self._columns["self_share"].append(_rounded(cost.self_share, 1.0))
            self._columns["self_seconds"].append(_rounded(cost.self_seconds, total))
            self._columns["calls"].append(_count(cost.calls))
            self._columns["instructions"].append(_count(cost.instructions))

    def table(self, run: RunRecord) -> ProfileTable:
        """Everything so far, as profiles of this run."""
        columns: dict[str, Any] = {
            name: np.array(self._columns[name], kind) for name, kind in PROFILE_COLUMNS.items()
        }
        return ProfileTable(
            runs=(run,),
            revisions=tuple(revision for _, revision in self._revisions.values()),
            configurations=tuple(configuration for _, configuration in self._configurations.values()),
            tools=tuple(self._tools),
            methods=tuple(method for method, _ in self._methods),
            **columns,
        )

    def _code(self, method: Method) -> int:
        return self._methods.setdefault((method, method.line), len(self._methods))


def _rounded(value: float | None, total: float) -> float:
    """To a part of the total that no profiler can tell; digits beyond it are noise that must be stored."""
    if value is None or not total > 0:
        return math.nan if value is None else value
    unit = EXACTNESS * 2.0 ** math.floor(math.log2(total))
    return round(value / unit) * unit


def _count(value: int | None) -> int:
    return NO_COUNT if value is None else min(value, MOST_COUNT)
