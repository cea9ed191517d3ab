"""Where the sample of a pull request aims, and that it is the blind one wherever nothing is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from bot.analysis.experience import Expected, Experience
from bot.analysis.past_changes import PastChange
from bot.flows.history.diff_aware import Aim, Target, target
from bot.flows.history.experience import Memory, Recalled
from bot.flows.pull_request import aimed, pull_request
from bot.model.diffs import FileDiff, Hunk
from bot.model.errors import HistoryError
from bot.model.history import EVERYTHING, Selection
from bot.model.profile_history import ProfileTable
from bot.model.profiles import Method
from bot.model.revisions import Comparison, Revision
from bot.model.space import Configuration, Term
from bot.sampling.constraints import ConstraintSolver
from bot.sampling.weighted import weighted_sample
from tests.fakes import FakeBench, job_of
from tests.flows.nights import MemoryStore
from tests.profiled import SPACE, SUBJECT, drawn, night

PRICE, DRAW = Method("shop.cart:price", "shop/cart.py", 7), Method("shop.ui:draw", "shop/ui.py", 3)
MAIN = Method("shop:main", "shop/main.py", 1)
PROFILED, BASE, HEAD = f"{0:040x}", "b" * 40, "h" * 40
BOTH = Comparison(Revision(BASE, "base"), Revision(HEAD, "head"))
Diffs = Mapping[tuple[str, str], Sequence[FileDiff] | None]


def shop(options: Mapping[str, Any]) -> dict[Method, float]:
    found = {MAIN: 0.05, PRICE: 0.02 * options["items"] * (3 if options["tax"] else 1)}
    return found | ({DRAW: 0.1} if options["fancy"] else {})


def memory(*nights: ProfileTable) -> Memory:
    store = MemoryStore()
    for table in nights or (night(0, drawn(60), shop, noise=0.02),):
        store.append_profiles(table)
    return Memory(store, lambda: [PROFILED, f"{1:040x}", BASE], datetime(2026, 2, 1, tzinfo=UTC))


def touching(file: str, *lines: int) -> tuple[FileDiff, ...]:
    return (FileDiff(file, file, tuple(Hunk(range(i, i + 1), range(i, i + 1)) for i in lines)),)


@dataclass
class Aiming:
    """Diffs that are told, and the terms that samples were asked for."""

    diffs: Diffs
    asked: list[tuple[Term, ...]] = field(default_factory=list)

    def aim(self) -> Aim:
        solver, rng = ConstraintSolver(SPACE), np.random.default_rng(1)

        def sampler(count: int, terms: Sequence[Term]) -> list[Configuration]:
            self.asked.append(tuple(terms))
            return weighted_sample(SPACE, solver, count, terms=terms, rng=rng)

        return Aim(lambda old, new: self.diffs[old, new], sampler, np.random.default_rng(2))


def found(diff: Sequence[FileDiff] | None, past: Memory | None = None, since: Any = ()) -> Target | None:
    aim = Aiming({(BASE, HEAD): diff, (PROFILED, BASE): since, (f"{1:040x}", BASE): since}).aim()
    return target(aim, past or memory(), SUBJECT, BOTH)


def test_the_sample_aims_at_what_drives_the_touched_method() -> None:
    drawing, price = found(touching("shop/ui.py", 9)), found(touching("shop/cart.py", 8))
    assert drawing is not None and drawing.terms == (("fancy",),)
    assert price is not None and ("tax",) in price.terms and ("fancy",) not in price.terms
    assert any(term[0].startswith("items") for term in price.terms)
    assert drawing.note == (
        "The diff touches 1 method that history knows (`shop.ui:draw`): two thirds of the configurations "
        "were chosen to exercise `fancy`; a third stays blind."
    )
    assert found(touching("shop/ui.py", 9)) == drawing


def test_several_methods_share_the_aim_and_are_counted() -> None:
    both = found((*touching("shop/ui.py", 3), *touching("shop/cart.py", 7), *touching("shop/main.py", 2)))
    assert both is not None and {("fancy",), ("tax",)} <= set(both.terms) and len(both.terms) <= 4
    assert "touches 3 methods that history knows (" in both.note
    assert all(f"`{m.name}`" in both.note for m in (PRICE, DRAW, MAIN))


def test_where_only_the_file_is_known_to_have_changed_that_is_said() -> None:
    imports = found(touching("shop/ui.py", 1))
    assert imports is not None and imports.terms == (("fancy",),)
    assert "touches the file of 1 method that history knows" in imports.note


def test_methods_are_looked_for_where_base_has_them() -> None:
    moved = (FileDiff("shop/ui.py", "shop/screen.py", (Hunk(range(1, 1), range(1, 101)),)),)
    assert found(touching("shop/ui.py", 9), since=moved) is None
    now = found(touching("shop/screen.py", 109), since=moved)
    assert now is not None and now.terms == (("fancy",),)
    unknown = found(touching("shop/ui.py", 9), since=None)
    assert unknown is not None and unknown.terms == (("fancy",),)


def test_the_newest_profiled_revision_tells_where_methods_are() -> None:
    def renamed(options: Mapping[str, Any]) -> dict[Method, float]:
        return {Method(m.name, f"new/{m.file}", m.line): cost for m, cost in shop(options).items()}

    past = memory(night(0, drawn(60), shop, noise=0.02), night(1, drawn(60), renamed, noise=0.02))
    assert found(touching("shop/ui.py", 9), past) is None
    assert found(touching("new/shop/ui.py", 9), past) is not None


class InPieces(MemoryStore):
    def profiles(self, wanted: Selection = EVERYTHING) -> Iterator[ProfileTable]:
        for table in super().profiles(wanted):
            for code in range(len(table.methods)):
                yield table.where(table.method == code)


def test_a_history_that_is_read_in_pieces_is_read_whole() -> None:
    store = InPieces()
    store.append_profiles(night(0, drawn(60), shop, noise=0.02))
    drawing = found(touching("shop/ui.py", 9), replace(memory(), store=store))
    assert drawing is not None and drawing.terms == (("fancy",),)


class Broken(MemoryStore):
    def profiles(self, wanted: Selection = EVERYTHING) -> Iterator[ProfileTable]:
        raise HistoryError("the disk is on fire")


@pytest.mark.parametrize(
    ("diff", "past"),
    [
        (None, None),
        ((), None),
        (touching("README.md", 1), None),
        (touching("shop/main.py", 2), None),  # nothing drives it
        (touching("shop/ui.py", 9), Memory(MemoryStore(), list, datetime(2026, 2, 1, tzinfo=UTC))),
        (touching("shop/ui.py", 9), Memory(Broken(), list, datetime(2026, 2, 1, tzinfo=UTC))),
        (touching("shop/ui.py", 9), memory(night(0, drawn(5), shop))),
    ],
)
def test_without_anything_known_the_job_stays_as_it_is(
    diff: Sequence[FileDiff] | None, past: Memory | None
) -> None:
    assert found(diff, past) is None
    aiming = Aiming({(BASE, HEAD): diff, (PROFILED, BASE): ()})
    job = job_of(SUBJECT, FakeBench(np.random.default_rng(0), 10.0, {}))
    for unchanged in (
        job,
        replace(job, memory=memory()),
        replace(job, aim=aiming.aim()),
        replace(job, aim=aiming.aim(), memory=past or memory()),
    ):
        assert aimed(unchanged, Recalled()) is unchanged


def test_without_a_diff_that_tells_the_sample_aims_at_what_is_rare_and_changed_before() -> None:
    aiming = Aiming({(BASE, HEAD): (), (PROFILED, BASE): ()})
    job = job_of(SUBJECT, FakeBench(np.random.default_rng(0), 10.0, {}))
    job = replace(job, aim=aiming.aim(), memory=memory())
    changes = [
        PastChange(i, i - 1, 0.05, {term: 1.0}) for i in (1, 2) for term in (("fancy", "tax"), ("tax",))
    ]
    after = aimed(job, Recalled(Experience({"cpu": Expected(tuple(changes), 5)})))
    after.sampler(4)
    assert aiming.asked == [(("fancy", "tax"),)]
    assert after.notes[-1] == (
        "Two thirds of the configurations were chosen to exercise `fancy+tax`, which changed before: "
        "few configurations would show that otherwise. A third stays blind."
    )
    touched = replace(job, aim=Aiming({(BASE, HEAD): touching("shop/ui.py", 9), (PROFILED, BASE): ()}).aim())
    assert (
        "`shop.ui:draw`"
        in aimed(touched, Recalled(Experience({"cpu": Expected(tuple(changes), 5)}))).notes[-1]
    )


def test_a_pull_request_measures_the_aimed_sample_and_says_so() -> None:
    def report(aim: Aim | None) -> tuple[list[Configuration], Sequence[str]]:
        slower: Callable[[Configuration], float] = lambda c: 1.05 if c[1] else 1.0  # noqa: E731
        bench = FakeBench(np.random.default_rng(0), 20.0, {"cpu": slower})
        told = pull_request(replace(job_of(SUBJECT, bench), aim=aim, memory=memory()))
        assert told.suspects.options[0].term == ("fancy",)
        return list(dict.fromkeys(w.configuration for w in bench.asked)), told.notes

    aiming = Aiming({(BASE, HEAD): touching("shop/ui.py", 9), (PROFILED, BASE): ()})
    measured, notes = report(aiming.aim())
    assert aiming.asked == [(("fancy",),)]
    assert any("a third stays blind" in note for note in notes)
    fresh = np.random.default_rng(1)
    asked = weighted_sample(SPACE, ConstraintSolver(SPACE), 96, terms=aiming.asked[0], rng=fresh)
    assert measured == asked[: len(measured)]
    assert not any("stays blind" in note for note in report(None)[1])
