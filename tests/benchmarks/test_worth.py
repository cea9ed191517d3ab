"""The benchmark of what history is worth: its programs' pasts are readable, its seconds are what they say."""

from typing import Any, ClassVar

import numpy as np
import pytest

from benchmarks.decision.past import Habits, experience, program
from benchmarks.decision.worth_table import markdown
from bot.model.space import Term

MARKS = [1.0, 2.0, 4.0, 8.0]


def batch(arm: str, *first: int | None) -> dict[str, Any]:
    """Runs that name their term from a mark on (None: never)."""
    results = [
        {
            "named": [] if i is None else list(range(i, len(MARKS))),
            "right": i is not None,
            "wrong": 0,
            "verdict": "regression",
            "pairs": 9,
        }
        for i in first
    ]
    return {"case": "c", "arm": arm, "batch": 0, "results": results}


class Watched(Habits):
    """Remembers what it changed."""

    changes: ClassVar[list[Term]] = []

    def changed(self, rng: np.random.Generator) -> Term:
        self.changes.append(super().changed(rng))
        return self.changes[-1]


def test_most_changes_of_a_programs_past_are_read_back_from_its_history() -> None:
    drawing, telling = np.random.default_rng(3).spawn(2)
    drawn = program("recorded", drawing)
    habits = Watched(drawn.world, drawn.draws, drawn.often, drawn.weights)
    found = experience(habits, telling).metrics["cpu"]
    # Uneven effects sometimes look like a pair with their level: that counts for its options, too.
    right = [c for c in found.changes if any(set(t) <= set(c.term) for t in Watched.changes if t)]
    assert len(right) > 0.8 * len(found.changes) and len(right) > 0.6 * len(Watched.changes) > 5
    assert found.revisions == 60 and len(found.noise) > 100


def test_seconds_to_a_power_lie_between_marks_on_a_logarithmic_scale() -> None:
    arms = [
        batch("none", 3, 3, 3, 3, 0),
        batch("helpful", 1, 1, 1, 1, 0),
        batch("misleading", 3, 3, 3, 3, None),
    ]
    rows = markdown({"c": MARKS}, arms, code="x", noise="recorded", seed=1).splitlines()
    cells = {row.split(" | ")[1]: row.split(" | ") for row in rows if row.startswith("| c ")}
    assert float(cells["none"][3]) == pytest.approx(4 * 2**0.75, abs=0.06)
    assert float(cells["helpful"][3]) == pytest.approx(1 * 2**0.75, abs=0.06)
    assert cells["helpful"][4].startswith("0.25")
    assert cells["misleading"][3] == "8.0" and cells["misleading"][5] == "nan"
