"""Which methods' own cost moved between two builds, and what share of the measured change each explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bot.analysis.distributions import normal_quantile, student_quantile
from bot.analysis.methods.callers import Callers
from bot.analysis.methods.channels import Measured
from bot.analysis.methods.ledger import Array, Ledger, changed, ledger, rewritten
from bot.analysis.methods.moves import LEAST_SHARE, Flags, Moves, moves
from bot.analysis.methods.origins import Origin, origins
from bot.model.profiles import Method, Profile

REWRITTEN = 4.0
"""How much a method counts in the order of guilt when its text changed; when it did not, as much less.
Arbitrary."""
MORE_CALLS, DEARER_CALLS = 1.1, 1.25
"""Growth of calls from which on a caller is asked, and of the cost of a call up to which. Arbitrary."""
UNSEEN = 1e-3
"""Share of a trial that a method may have had though no sample met it. Arbitrary."""
MOSTLY_OWN = 0.6
"""Share of what a method cost more with its callees, from which on its own cost tells enough. Arbitrary."""
ITSELF = 0.3
"""Share that a rewritten method's own cost explains, from which on nobody's callees are asked. Arbitrary."""
BORNE_OUT = 0.5
"""Part of an origin's share that the own costs of its callees must come to. Arbitrary."""
MOST_NOTED = 3
Move = Literal["slower", "faster", "new", "vanished", "calls"]


@dataclass(frozen=True)
class Compared:
    """Profiles of one configuration: two or more at base (their spread is what A/A shows), any at head.

    seconds: of one trial without profiler, at base and head (CPU seconds; their difference is the measured
    change). interval: 90 % interval of head / base. bodies: source texts of methods of base and of head, as
    far as known.
    """

    base: Sequence[Profile]
    head: Sequence[Profile]
    seconds: tuple[float, float]
    interval: tuple[float, float]
    bodies: tuple[Mapping[Method, str], Mapping[Method, str]] = ({}, {})


@dataclass(frozen=True)
class MethodChange:
    """A method, as at head, a vanished one as at base; `was`: at base, when renamed or moved.

    change: `calls`, where its own cost did not move, and it makes the additional calls of one whose cost did.
    self_seconds: of an unprofiled trial, base and head. share: of the measured change, with its 90 %
    interval. callers: see `Callers.path`, outermost first. with_callees: the share is that of the method
    and all it calls. same_text: whether its text is known to be the same at both.
    """

    method: Method
    was: Method | None
    change: Move
    self_seconds: tuple[float, float]
    calls: tuple[int | None, int | None]
    instructions: tuple[int, int] | None
    share: float
    interval: tuple[float, float]
    callers: tuple[Method, ...]
    with_callees: bool = False
    same_text: bool = False

    @property
    def owner(self) -> Method | None:
        """Of a method outside of the repository, the nearest caller in it."""
        ours = [caller for caller in self.callers if caller.file is not None]
        return ours[-1] if ours and self.method.file is None else None


@dataclass(frozen=True)
class Blame:
    """Methods whose own cost moved beyond the A/A spread, most guilty first, and who calls them more often.

    unexplained: share of the measured change that none of them explains; shares and this sum to one. None:
    there is no change to be explained.
    """

    changes: tuple[MethodChange, ...]
    unexplained: float | None
    notes: tuple[str, ...] = ()


def blame(compared: Compared) -> Blame:
    """Compares the profiles of two builds. Takes time in proportion to the methods.

    A method is named when its own cost moved beyond the spread of replicates, by instructions, by time, or by
    time with less certainty where its text or calls changed; unfinished profiles are not used.
    """
    base = [profile for profile in compared.base if profile.outcome == "ok" and profile.methods]
    head = [profile for profile in compared.head if profile.outcome == "ok" and profile.methods]
    before, after = compared.seconds
    distinct = 0.0 < before != after > 0.0 and not compared.interval[0] <= 1.0 <= compared.interval[1]
    if not base or not head:
        return Blame((), 1.0 if distinct else None, ("There is no finished profile of both builds.",))
    book = ledger(base, head, compared.bodies)
    counted = {
        "calls": changed(book.base.calls, book.head.calls),
        "instructions": changed(book.base.instructions, book.head.instructions),
    }
    if not distinct:
        why = "The measured change cannot be told from none: no method is named for it."
        return Blame((), None, (why, *_counts(book, counted)))
    text = rewritten(book, compared.bodies)
    callers = Callers.of(book, base, head)
    measured = Measured(compared.seconds, compared.interval)
    found = moves(book, callers, measured, counted=counted, text=text)
    if found is None:
        return Blame((), 1.0, ("The profiles of the two builds have no quantity in common.",))
    order, asked, notes = _ordered(book, callers, found, measured, text)
    changes = tuple(_change(book, callers, found, measured, row) for row in order)
    share = found.delta / measured.change
    rewrote = any(text[row] == 1.0 and share[row] >= ITSELF for row in order)
    known = bool((text == 1.0).any())
    sources = (
        []
        if rewrote or not known
        else origins(book, callers, (base, head), seconds=compared.seconds, text=text)
    )
    if any(share[row] >= ITSELF for row in asked.values()):
        sources = [one for one in sources if one.row in asked]
    sources = [one for one in sources if _borne_out(one, found.delta / measured.change)]
    told = [(one, _origin(book, callers, found, measured, one)) for one in sources]
    changes = _under(changes, told, book)
    same = {book.methods[row] for row in np.flatnonzero(text == 0.0).tolist()}
    changes = tuple(replace(change, same_text=change.method in same) for change in changes)
    rest = 1.0 - sum(change.share for change in changes)
    if changes and rest >= 1.0:
        # Much moved by one factor, which looks as if only the others had moved, the other way.
        names = ", ".join(f"`{change.method.name}`" for change in changes[:MOST_NOTED])
        return Blame((), 1.0, (f"{names} seem to have moved the other way: nothing explains the change.",))
    called = np.flatnonzero(np.nan_to_num(np.concatenate([book.base.calls, book.head.calls])).any(axis=0))
    return Blame(changes, rest, (*notes, *book.pairing.notes({book.methods[row] for row in called.tolist()})))


def _ordered(
    book: Ledger, callers: Callers, found: Moves, measured: Measured, text: Array
) -> tuple[list[int], dict[int, int], list[str]]:
    """Rows to name, most guilty first; by rows of callers what they call more often; notes for a reader."""
    share = found.delta / measured.change
    trust = np.where(text == 1.0, REWRITTEN, np.where(text == 0.0, 1.0 / REWRITTEN, 1.0))
    named = np.flatnonzero(found.named).tolist()
    order = sorted(named, key=lambda row: (share[row] < 0.0, -abs(share[row]) * trust[row]))
    names = [method.name for method in book.methods]
    notes = [
        f"Cost moved between `{names[caller]}` and `{names[callee]}` (inlined in one build only, or code "
        "that was moved): what is told is the difference."
        for caller, callee in found.settled
    ]
    growth = _growth(book)
    asked: dict[int, int] = {}
    for row in order[:]:
        origin = _more_calls(callers, found, row, growth)
        if origin is None:
            continue
        asked.setdefault(origin, row)
        often = f"{growth[row]:.3g} times as often" if np.isfinite(growth[row]) else "now"
        notes.append(f"`{names[row]}` is called {often}: `{names[origin]}` makes the additional calls.")
        foreign = book.methods[row].file is None and book.methods[origin].file is not None
        its_text = text[origin] == 1.0 and text[row] != 1.0
        if origin in order[: order.index(row)]:
            continue  # it leads already, by what it calls more often, too
        if foreign or its_text or (text[row] == 0.0 and np.isnan(text[origin])):
            order = [other for other in order if other != origin]
            order.insert(order.index(row), origin)
        elif origin not in order:
            order.insert(order.index(row) + 1, origin)
    return order, asked, notes


def _growth(book: Ledger) -> Array:
    """Calls at head / base, shape (methods,): infinite where there were none, NaN: not known."""
    calls = [side.calls.mean(axis=0) for side in (book.base, book.head)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(calls[1] / calls[0])


def _more_calls(callers: Callers, found: Moves, row: int, growth: Array) -> int | None:
    """Who makes the additional calls of a method that is called more often and costs no more a call."""
    known = max(found.before[row], UNSEEN * found.before.sum())
    seconds = known * growth[row] if np.isfinite(growth[row]) else np.inf
    if not growth[row] >= MORE_CALLS or found.after[row] > DEARER_CALLS * seconds:
        return None
    return callers.origin(row, growth)


def _change(book: Ledger, callers: Callers, found: Moves, measured: Measured, row: int) -> MethodChange:
    method, was = book.methods[row], book.before(row)
    share = float(found.delta[row] / measured.change)
    wide = float(found.deviation[row] / abs(measured.change))
    wide *= float(student_quantile(0.95, found.freedom))
    kind: Move = "slower" if found.delta[row] > 0 else "faster"
    if not book.in_base[row] or not book.in_head[row]:
        kind = "new" if book.in_head[row] else "vanished"
    elif not found.named[row]:
        # What it calls is told; its own cost did not move beyond chance, and takes no part of the change.
        kind, share = "calls", 0.0
    instructions = _count(book.base.instructions, row), _count(book.head.instructions, row)
    return MethodChange(
        method,
        was if was != method and kind not in ("new", "vanished") else None,
        kind,
        (float(found.before[row]), float(found.after[row])),
        (_count(book.base.calls, row), _count(book.head.calls, row)),
        None if None in instructions else (instructions[0] or 0, instructions[1] or 0),
        share,
        (share - wide, share + wide),
        callers.path(row),
    )


def _origin(book: Ledger, callers: Callers, found: Moves, measured: Measured, source: Origin) -> MethodChange:
    """A method whose cost with callees moved."""
    own = _change(book, callers, found, measured, source.row)
    share = source.part
    wide = float(normal_quantile(0.95) * np.hypot(source.deviation, share * measured.error / measured.change))
    kind: Move = "slower" if share * measured.change > 0.0 else "faster"
    return replace(
        own,
        change=own.change if own.change in ("new", "vanished") else kind,
        share=share,
        interval=(share - wide, share + wide),
        with_callees=True,
    )


def _borne_out(source: Origin, share: Array) -> bool:
    """Whether the own costs of a method and of what it makes dearer moved by much of what it costs more."""
    return bool(share[[source.row, *source.carried]].sum() >= BORNE_OUT * source.part)


def _under(
    changes: Sequence[MethodChange], sources: Sequence[tuple[Origin, MethodChange]], book: Ledger
) -> tuple[MethodChange, ...]:
    """Origins in the place of what moved because they call it; not those whose own cost says most of it."""
    own = {change.method: change.share for change in changes}
    kept = [(o, told) for o, told in sources if own.get(told.method, 0.0) < MOSTLY_OWN * told.share]
    if not kept:
        return tuple(changes)
    covered = {book.methods[row] for origin, _ in kept for row in (origin.row, *origin.carried)}
    left = [c for c in changes if c.method not in covered and abs(c.share) >= LEAST_SHARE]
    return tuple(sorted([*(told for _, told in kept), *left], key=lambda c: (c.share < 0.0, -abs(c.share))))


def _count(values: Array, row: int) -> int | None:
    mean = float(values[:, row].mean())
    return round(mean) if np.isfinite(mean) else None


def _counts(book: Ledger, counted: Mapping[str, Flags]) -> list[str]:
    """What changed though the time did not: the largest changes of counts."""
    for what, base, head in (
        ("executes {} instructions", book.base.instructions, book.head.instructions),
        ("is called {} times", book.base.calls, book.head.calls),
    ):
        rows = np.flatnonzero(counted["instructions" if "instructions" in what else "calls"])
        if rows.size:
            moved = np.abs(head.mean(axis=0) - base.mean(axis=0))
            largest = rows[np.argsort(-moved[rows], kind="stable")[:MOST_NOTED]].tolist()
            return [
                f"`{book.methods[row].name}` "
                + what.format(f"{_count(head, row):,} instead of {_count(base, row):,}")
                + "."
                for row in largest
            ]
    return []
