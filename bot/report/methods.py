"""Methods behind a change: which, where, what they cost at base and head, how much of it they explain."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from bot.model.report import Effect, OptionValue, Report
from bot.model.report_methods import ComparedProfile, MethodSuspect
from bot.report import words
from bot.report.formats import (
    Prose,
    Words,
    brief,
    clean,
    code,
    count,
    engineering,
    fraction,
    join,
    prose,
    span_of_share,
    strong,
    times,
    times_as_long,
)
from bot.report.hints import is_the_program, nobody_to_blame
from bot.report.links import place
from bot.report.method_states import state
from bot.report.parts import Block, Bullets, Section, Table
from bot.report.ranges.moves import holds

ROWS_PER_TABLE = 4
"""Tables of methods have a fourth of the rows that other tables may have: several stand in one section."""
MOST_TABLES, MOST_BULLETS, MOST_IN_BULLET = 20, 4, 3
CALLERS, MORE_CALLERS = 2, 8
"""So many hot paths are told, and so many of the nearest callers on each, in a comment and elsewhere."""
COMMENT_ROWS = 20
LEAST_BLAMED, LEAST_ALSO = 0.25, 0.1
"""A headline names a method that explains so much of the change; and a second one. Arbitrary."""
ALL = 0.995
_CHANGES = {"slower": "slower", "faster": "faster", "new": "new", "vanished": "gone", "calls": "calling more"}
_TIMES = ("cpu", "wall")
"""Metrics of which a method's seconds can be a share."""


@dataclass(frozen=True)
class Group:
    """The methods of one configuration as the report lists them, and its profile when there is one."""

    options: dict[str, OptionValue]
    methods: tuple[MethodSuspect, ...]
    profile: ComparedProfile | None

    @property
    def control(self) -> bool:
        """Whether the configuration is not flagged: what moved there moved by chance."""
        return self.profile is not None and self.profile.control


def groups(report: Report) -> list[Group]:
    """Configurations with profiles or blamed methods, in the report's order."""
    profiles = {_key(p.options): p for p in reversed(report.profiles)}
    found: dict[object, list[MethodSuspect]] = {_key(p.options): [] for p in report.profiles}
    every = [*(p.options for p in report.profiles), *(m.options for m in report.suspects.methods)]
    options = {_key(one): one for one in every}
    for method in report.suspects.methods:
        found.setdefault(_key(method.options), []).append(method)
    return [Group(options[key], tuple(several), profiles.get(key)) for key, several in found.items()]


def _key(options: dict[str, OptionValue]) -> object:
    return tuple(sorted((name, type(value).__name__, value) for name, value in options.items()))


def blamed(report: Report, effect: Effect) -> list[MethodSuspect]:
    """At most two methods that explain most of an effect, where it is told by seconds; [] when none does."""
    if effect.metric not in _TIMES:
        return []
    for group in groups(report):
        slower = group.profile is None or (group.profile.change_seconds > 0) == (effect.ratio > 1)
        if group.control or not slower or not holds(effect.term, group.options):
            continue
        sure = [m for m in group.methods if m.interval is None or m.interval[0] > 0]
        sure = [m for m in sure if not is_the_program(m, group.profile)]
        sure = [m for m in sure if m.share_of_change >= LEAST_ALSO]
        sure.sort(key=lambda m: (m.cleared or m.share_of_change < LEAST_BLAMED, -m.share_of_change))
        together = sum(m.share_of_change for m in sure[:2])
        return sure[: 2 if together <= 1 else 1] if sure and sure[0].share_of_change >= LEAST_BLAMED else []
    return []


def part(method: MethodSuspect) -> str:
    """A method's share of the change; more than all of it is all."""
    return fraction(method.share_of_change) if method.share_of_change < ALL else "all"


def verdict(report: Report, found: list[MethodSuspect]) -> Prose:
    """Where an effect's change is, in one sentence: "81 % of it (72 to 90) is in ..."."""
    first, *others = found
    parts = [
        prose(
            strong(part(first).capitalize()), " of it", span_of_share(first.interval, part(first)), " is in "
        ),
        _located(report, first),
        *(prose(", ", fraction(m.share_of_change), " in ", _located(report, m)) for m in others),
    ]
    if first.restored is not None:
        back = prose(strong(fraction(first.restored)), span_of_share(first.restored_interval))
        but = (
            "its own change is not why: without that alone "
            if first.cleared
            else "without its change alone, "
        )
        parts.append(prose("; ", but, back, " is gone"))
    return prose(*parts, ".")


def _located(report: Report, method: MethodSuspect) -> Prose:
    only = f"which is {state(method)}" if state(method) else "whose text did not change" * method.same_text
    ours = prose("")
    if (owner := method.owner) is not None:
        ours = prose("reached from ", code(owner.method), " in ", place(report, owner.file, owner.line))
    more = join([p for p in (_place(report, method), prose(only), ours) if p.spans], ", ")
    called = " and what it calls" if method.with_callees else ""
    return prose(code(method.method), called, *((" (", more, ")") if more.spans else ()))


def methods(report: Report, rows: int) -> Section | None:
    """Methods whose own cost moved, by configuration; a comment has a table for the first one only."""
    found = groups(report)
    flagged = [g for g in found if g.methods and not g.control]
    short = rows <= COMMENT_ROWS
    if not flagged:
        return _none_stands_out(report, found, short)
    blocks: list[Block] = []
    several = len(found) > 1
    for group in flagged[: 1 if short else MOST_TABLES]:
        blocks += _table(report, group, rows=rows, titled=several)
    rest = flagged[1:] if short else flagged[MOST_TABLES:]
    alike = _alike(rest)
    lines: list[Words] = [_line(report, several) for several in alike[:MOST_BULLETS]]
    left = sum(len(several) for several in alike[MOST_BULLETS:])
    lines += [prose(f"{count(left, 'more configuration')}, in the report")] if left else []
    blocks += [*([Bullets(tuple(lines))] if lines else []), *_remarks(report, found, short)]
    unique = {(m.method, m.file, state(m) or _CHANGES[m.change]) for g in flagged for m in g.methods}
    counted = Counter(said for _, _, said in sorted(unique, key=str))
    order = dict.fromkeys((*_CHANGES.values(), *counted))
    title = ", ".join(f"{counted[said]:,} {said}" for said in order if counted[said])
    return Section("methods", f"Methods: {title}", tuple(blocks))


def _none_stands_out(report: Report, found: list[Group], short: bool) -> Section | None:
    profiles = [group.profile for group in found if group.profile and not group.control]
    title, why = nobody_to_blame(profiles)
    return Section("methods", title, (prose(why), *_remarks(report, found, short))) if profiles else None


def cost(method: MethodSuspect) -> Prose:
    """What a method costs at base and head, and its share of the change, in one line."""
    return prose(
        "Own time ", _moved(method, _seconds(method)), " per trial; share of the change: ", _share(method)
    )


def _table(report: Report, group: Group, *, rows: int, titled: bool) -> list[Block]:
    """A configuration's methods and what none of them explains; columns that would be empty are left out."""
    most = max(1, rows // ROWS_PER_TABLE)
    near = CALLERS if rows <= COMMENT_ROWS else MORE_CALLERS
    shown = group.methods[:most]
    columns: dict[str, tuple[str, list[Prose]]] = {
        "Method": ("l", [_name(m) for m in shown]),
        "Where": ("l", [_place(report, m) for m in shown]),
        "Own time": ("r", [_moved(m, _seconds(m)) for m in shown]),
        "Calls": ("r", [_calls(m) for m in shown] if any(m.calls[0] != m.calls[1] for m in shown) else []),
        "Instructions": ("r", [_instructions(m) for m in shown] if rows > COMMENT_ROWS else []),
        "Share of the change": ("r", [_share(m) for m in shown]),
        "Driven by": ("l", [join([words.term(t) for t in m.terms[:near]], "; ") for m in shown]),
    }
    columns = {name: c for name, c in columns.items() if any(cell.spans for cell in c[1])}
    cells = list(zip(*(column for _, column in columns.values()), strict=True))
    unexplained = group.profile.unexplained if group.profile else None
    if unexplained is not None:
        other = "the rest moved the other way" if unexplained < 0 else "not explained by a method"
        rest = {"Method": other, "Share of the change": fraction(unexplained)}
        cells.append(tuple(prose(rest.get(name, "")) for name in columns))
    align = "".join(side for side, _ in columns.values())
    left = len(group.methods) - len(shown)
    paths = tuple(_hot_path(m, near) for m in shown[:near] if m.callers)
    return [
        *([prose(words.configuration(group.options, words.default_options(report)), ":")] if titled else []),
        Table(tuple(columns), tuple(cells), align),
        *([prose(f"and {count(left, 'more method')}, in the report")] if left else []),
        *([Bullets(paths)] if paths else []),
    ]


def _alike(several: list[Group]) -> list[list[Group]]:
    """Configurations whose methods have the same names, together."""
    found: dict[frozenset[str], list[Group]] = {}
    for group in several:
        found.setdefault(frozenset(m.method for m in group.methods), []).append(group)
    return list(found.values())


def _line(report: Report, alike: list[Group]) -> Prose:
    """The methods of configurations that blame the same ones, in one line."""
    default = words.default_options(report)
    where = [words.configuration(group.options, default) for group in alike[:MOST_IN_BULLET]]
    if len(alike) > MOST_IN_BULLET:
        where.append(prose(f"{len(alike) - MOST_IN_BULLET:,} more"))
    shares: dict[str, list[float]] = {}
    for method in (m for group in alike for m in group.methods):
        shares.setdefault(method.method, []).append(method.share_of_change)
    parts = [
        prose(code(name), f" {_range(several)}") for name, several in list(shares.items())[:MOST_IN_BULLET]
    ]
    left = len(shares) - MOST_IN_BULLET
    parts += [prose(count(left, "more method"))] if left > 0 else []
    rest = [g.profile.unexplained for g in alike if g.profile and g.profile.unexplained is not None]
    parts += [prose(f"not explained {_range(rest)}")] if rest else []
    return prose(join(where, "; "), ": ", join(parts, ", "))


def _range(shares: list[float]) -> str:
    low, high = fraction(min(shares)), fraction(max(shares))
    return high if low == high else f"{low.removesuffix(' %')} to {high}"


def _remarks(report: Report, found: list[Group], short: bool) -> list[Block]:
    """With what was profiled, at which cost, what reverting one method showed, and the control.

    short: without what the profiler cannot see.
    """
    blocks: list[Block] = []
    profile = next((g.profile for g in found if g.profile and g.profile.tool), None)
    if profile is not None:
        longer = f"; a profiled trial took {times_as_long(profile.overhead)}" if profile.overhead else ""
        blocks.append(prose("Profiled with ", code(profile.tool), longer, "."))
        if profile.blind and not short:
            blocks += [
                prose("What it cannot see, or sees wrongly:"),
                Bullets(tuple(map(prose, profile.blind))),
            ]
    for method in [m for g in found for m in g.methods if m.restored is not None][:1]:
        share = prose(strong(fraction(method.restored or 0.0)), span_of_share(method.restored_interval))
        blocks.append(
            prose("A build of head without the change of ", code(method.method), " loses ", share, " of it.")
        )
    for group in [g for g in found if g.control][:1]:
        where = words.configuration(group.options, words.default_options(report))
        blocks.append(
            prose("As a control, without an alarm: ", where, ". What moves there too is not blamed.")
        )
    return blocks


def _name(method: MethodSuspect) -> Prose:
    what = state(method) or "calls more" * (method.change == "calls")
    was = prose(" (was ", code(method.was), ")") if method.was else ""
    return prose(code(method.method), f" ({what})" if what else "", was)


def _place(report: Report, method: MethodSuspect) -> Prose:
    return place(report, method.file, method.line, at_base=method.change == "vanished")


def _seconds(method: MethodSuspect) -> tuple[str, str]:
    return times(method.base_self_seconds, method.head_self_seconds)


def _moved(method: MethodSuspect, values: tuple[str, str]) -> Prose:
    base = "nothing" if method.change == "new" else values[0]
    head = "nothing" if method.change == "vanished" else values[1]
    return prose(f"{base} to {head}")


def _calls(method: MethodSuspect) -> Prose:
    base, head = ("unknown" if c is None else f"{c:,}" for c in method.calls)
    return prose("" if base == head == "unknown" else base if base == head else f"{base} to {head}")


def _instructions(method: MethodSuspect) -> Prose:
    if method.instructions is None:
        return prose("")
    base, head = (engineering(value) for value in method.instructions)
    return _moved(method, (base, head))


def _share(method: MethodSuspect) -> Prose:
    if not method.share_of_change and (method.assertion or method.change == "calls"):
        return prose("violates an assertion" if method.assertion else "not by itself")
    called = ", with what it calls" if method.with_callees else ""
    return prose(fraction(method.share_of_change), span_of_share(method.interval), called)


def _hot_path(method: MethodSuspect, near: int) -> Prose:
    names = [code(brief(clean(name), 40)) for name in method.callers[-near:]]
    cut = [prose("…")] if len(method.callers) > near else []
    return prose(code(method.method), " is reached by ", join([*cut, *names], " → "))
