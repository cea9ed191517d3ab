"""Outcomes of assertions: of the paper's figure 1, of long names, of deep stacks and many paths."""

from __future__ import annotations

import re

from bot.model.report import Report
from bot.model.report_assertions import AssertionGroup, AssertionOutcome, AssertionPath
from tests.unit.report.builders import regression

EDGES = {
    "e1": ("startup_children", "proc_mutex_sysv_acquire"),
    "e2": ("child_main", "proc_mutex_sysv_acquire"),
}
PROPOSED = """\
- id: 3f2a91c07d
  method: __semop
  edges:
    e1: startup_children > proc_mutex_sysv_acquire
    e2: child_main > proc_mutex_sysv_acquire
  borders: [0.75]
  groups:
  - {when: e1, expected: [0.419, 0.581], calls: 412}
  - {when: e2, expected: [0.08, 0.92], calls: 1110}
  - {when: not e1 and not e2, expected: [0.99, 0.01], calls: 1198}
  mined: {revision: 9c6e7f10f5d0, trials: 12}
"""
HERE = "storage::Index<std::pair<int, char>>::lookup"


def group(when: str, *, expected: tuple[float, ...], **fields: object) -> AssertionGroup:
    """A group that held, unless told otherwise."""
    usual: dict[str, object] = {
        "expression": re.sub(r"e\d", lambda m: " > ".join(EDGES.get(m[0], ("a", m[0]))), when),
        "when": when,
        "observed": expected,
        "base": expected,
        "calls": (1_204, 1_198),
        "outcome": "held",
    }
    return AssertionGroup.model_validate(usual | {"expected": expected} | fields)


def way(path: str, calls: int, *, of: int | None, head: int | None = None) -> AssertionPath:
    """A path, its names between arrows."""
    return AssertionPath(
        path=tuple(path.split(" > ")), group=of, calls=(calls, calls if head is None else head)
    )


def semaphore(**fields: object) -> AssertionOutcome:
    """The model of seeds' figure 1; the group over e2 became slower."""
    moved = group(
        "e2",
        expected=(0.355, 0.645),
        base=(0.36, 0.64),
        observed=(0.08, 0.92),
        outcome="violated",
        ratio=1.62,
        interval=(1.5, 1.76),
        calls=(1102, 1110),
        said="36 % -> 8 % fast (< 70 ms)",
    )
    usual: dict[str, object] = {
        "id": "3f2a91c07d",
        "method": "__semop",
        "edges": EDGES,
        "groups": (
            group("e1", expected=(0.419, 0.581), calls=(410, 412)),
            moved,
            group("not e1 and not e2", expected=(0.99, 0.01)),
        ),
        "borders_seconds": (0.07,),
        "outcome": "violated",
        "slower": True,
        "proposed": PROPOSED,
        "paths": (
            way("main > ap_mpm_run > child_main > proc_mutex_sysv_acquire > __semop", 1102, of=1),
            way("main > ap_mpm_run > child_main > proc_mutex_sysv_release > __semop", 1100, of=2),
            way("main > ap_mpm_run > startup_children > proc_mutex_sysv_acquire > __semop", 410, of=0),
            way("main > ap_mpm_run > startup_children > proc_mutex_sysv_release > __semop", 104, of=2),
        ),
    }
    return AssertionOutcome.model_validate(usual | fields)


def held() -> AssertionOutcome:
    """Two groups of a compiled program with long names, calls of itself and three clusters."""
    index = "std::map<std::basic_string<char, std::char_traits<char>>, Entry>::find"
    return AssertionOutcome(
        id="77aa01bc9e",
        method=HERE,
        edges={"e1": ("storage::Table::scan", HERE)},
        groups=(
            group("e1", expected=(0.1, 0.2, 0.7), expression=f"storage::Table::scan > {HERE}"),
            group(
                "not e1",
                expression=f"not storage::Table::scan > {HERE}",
                expected=(0.8, 0.2, 0.0),
                observed=(),
                calls=(88, 0),
                outcome="undecided",
            ),
        ),
        borders_seconds=(0.00012, 0.0031),
        outcome="undecided",
        why=("too few calls over not e1",),
        paths=(
            way(f"main > storage::Table::scan > {HERE}", 400, of=0),
            way(
                f"main > storage::Table::scan > storage::Table::split > storage::Table::scan > {HERE}",
                60,
                of=0,
            ),
            AssertionPath(path=("main", index, HERE), group=1, calls=(88, 0)),
            way(f"main > storage::Cache::warm > {HERE}", 0, head=31, of=None),
        ),
    )


def crowded(paths: int) -> AssertionOutcome:
    """A method that everybody calls, from far away: deep stacks, five groups."""
    made = []
    for k in range(paths):
        stem = "cli:main > app.run:Loop.turn > app.dispatch:Dispatcher.handle"
        middle = " > ".join(
            f"app.layer{j}:Handler{(k * 7 + j) % 9}.call{k % (j + 2)}" for j in range(1 + k % 6)
        )
        made.append(way(f"{stem} > {middle} > app.io:Reader.read", 4000 // (k + 1), of=k % 5))
    spread = ((0.9, 0.1), (0.7, 0.3), (0.5, 0.5), (0.3, 0.7), (0.1, 0.9))
    return AssertionOutcome(
        id="5510cafe00",
        method="app.io:Reader.read",
        groups=tuple(group(f"e{k + 1}", expected=share) for k, share in enumerate(spread)),
        borders_seconds=(0.01,),
        outcome="held",
        paths=tuple(made),
    )


def asserted() -> Report:
    """A regression with a violated, an undecided and a held assertion."""
    return regression(assertions=(semaphore(), held(), crowded(12)))


def of_strangers(name: str) -> Report:
    """Every text of an outcome is this one."""
    moved = group(name, expected=(0.5, 0.5), outcome="violated", said=name, ratio=1.2, paths=((name, HERE),))
    edge = (name, HERE)
    outcome = semaphore(
        method=name,
        file=name,
        groups=(moved,),
        edges={name: edge},
        why=(name,),
        proposed=name,
        paths=(AssertionPath(path=edge, group=0, calls=(3, 4)), way(f"a > {HERE}", 2, of=0)),
        new_paths=(edge,),
    )
    return regression(assertions=(outcome, outcome.model_copy(update={"outcome": "undecided"})))


def states() -> dict[str, tuple[Report, bool]]:
    """Name of each state -> its report, and whether it came from a fork."""
    return {"assertions": (asserted(), False)}
