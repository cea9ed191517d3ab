"""Programs of a callable, written to a folder: revision 1 is slower or faster in known terms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

CODE = """\
import json, pathlib
import numpy as np

SYSTEM = json.loads((pathlib.Path(__file__).parent / "system.json").read_text())
RNG = np.random.default_rng(SYSTEM["seed"])

def holds(term, x):
    return np.all([x[:, i] == value for i, value in term], axis=0) if term else np.ones(len(x), bool)

def seconds(revision, x):
    x = np.asarray(x)
    taken = np.ones(len(x))
    for since, term, change in SYSTEM["effects"]:
        where = holds(term, x) & (revision >= since)
        added = np.where(where, change, 0.0)
        taken = taken * (1.0 + added) if SYSTEM["shares"] else taken + added
    waves = np.sin(x @ np.arange(1, x.shape[1] + 1) * 12.9898)
    noise = SYSTEM["noise"] * np.exp(SYSTEM["uneven"] * waves) * RNG.normal(size=len(x))
    noise += np.where(RNG.random(len(x)) < SYSTEM["tails"], RNG.exponential(0.2, len(x)), 0.0)
    failed = np.any([holds(term, x) for term in SYSTEM["fails"]], axis=0) if SYSTEM["fails"] else False
    return np.where(failed, np.nan, taken * np.exp(noise))
"""


@dataclass(frozen=True)
class Kind:
    """levels: of each changed term. absent: chance of a negated one. size: of a change, least and most."""

    name: str
    levels: tuple[int, ...] = ()
    size: tuple[float, float] = (0.05, 0.20)
    absent: float = 0.0
    shares: bool = True
    noise: tuple[float, ...] = (0.005, 0.01, 0.02)
    uneven: float = 0.0
    tails: float = 0.0
    fails: bool = False
    constraints: tuple[str, ...] = ()


KINDS = (
    Kind("an option", (1,)),
    Kind("an option, 2 to 4 %", (1,), (0.02, 0.04)),
    Kind("an option that is absent", (1,), absent=1.0),
    Kind("an option, as an amount", (1,), shares=False),
    Kind("an option, noise of 5 %", (1,), noise=(0.05,)),
    Kind("an option, uneven noise", (1,), uneven=1.0),
    Kind("an option, a twentieth of the trials takes long", (1,), tails=0.05),
    Kind("an option, a pair of others fails", (1,), fails=True),
    Kind("an option, constraints", (1,), constraints=("not (o0 and o1)", "o2 implies o3")),
    Kind("two options", (1, 1)),
    Kind("two together", (2,), (0.08, 0.25)),
    Kind("two together, some absent", (2,), (0.08, 0.25), absent=0.6),
    Kind("three together", (3,), (0.12, 0.30)),
    Kind("three together, some absent", (3,), (0.12, 0.30), absent=0.4),
    Kind("everything", (0,), (0.03, 0.10)),
    Kind("nothing"),
    Kind("nothing, noise of 5 %", noise=(0.05,)),
    Kind("nothing, uneven noise", uneven=1.0),
    Kind("nothing, a tenth of the trials takes long", tails=0.1),
    Kind("nothing, a pair of options fails", fails=True),
)


@dataclass(frozen=True)
class System:
    """A program of so many switches o0, o1, ...; changes: term -> relative change at revision 1."""

    kind: Kind
    options: int
    changes: Mapping[tuple[str, ...], float]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """The module, what it reads, and the configuration file."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "program.py").write_text(CODE, encoding="utf-8")
        (folder / "system.json").write_text(json.dumps(self.settings), encoding="utf-8")
        options = {f"o{i}": {"flag": f"--o{i}"} for i in range(self.options)}
        program = {"callable": "program:seconds", "revisions": 2}
        written = {"program": program, "options": options, "constraints": list(self.kind.constraints)}
        (folder / "suspects.yml").write_text(json.dumps(written), encoding="utf-8")


def system(kind: Kind, seed: int) -> System:
    """Six to fourteen switches; seven of ten cost or save something, and two pairs of them."""
    rng = np.random.default_rng([seed, sum(map(ord, kind.name))])
    options = int(rng.integers(6, 15))

    def term(levels: int) -> list[tuple[int, int]]:
        places = np.sort(rng.choice(options, levels, replace=False))
        return [(int(i), int(rng.random() >= kind.absent)) for i in places]

    effects: list[tuple[int, list[tuple[int, int]], float]] = []
    costs = [[(i, 1)] for i in range(options) if rng.random() < 0.7]
    costs += [[(int(i), 1) for i in rng.choice(options, 2, replace=False)] for _ in range(2)]
    for one in costs:
        own = float(np.expm1(rng.normal(0.0, 0.2))) if kind.shares else float(rng.exponential(0.3))
        effects.append((0, one, own))
    changes = {}
    places = rng.permutation(options)
    for number, levels in enumerate(kind.levels):
        changed = [(int(places[number]), 1)] if len(kind.levels) > 1 else term(levels)
        size = float(rng.uniform(*kind.size)) * (1.0 if rng.random() < 0.75 else -1.0)
        effects.append((1, changed, size))
        changes[tuple(sorted(("" if value else "!") + f"o{i}" for i, value in changed))] = size
    settings = {
        "effects": effects,
        "shares": kind.shares,
        "noise": float(rng.choice(kind.noise)),
        "uneven": kind.uneven,
        "tails": kind.tails,
        "fails": [term(2)] if kind.fails else [],
        "seed": int(rng.integers(2**31)),
    }
    return System(kind, options, changes, settings)
