"""Influences for a terminal: which methods are behind an option, and which options are behind a method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.model.report import Influence
from bot.report.formats import clean, engineering, fraction, seconds

GRAINS = 100_000
"""From here on a count is told with four digits."""
ROWS = 10
"""Lines under one heading; more are counted."""
METHODS = 15
"""Methods that are shown without being asked for; those told in calls come after those told in time."""
TERMS = 8
"""Terms of the whole program that get a list of methods."""


def influence_text(
    influences: Sequence[Influence], *, method: str | None = None, option: str | None = None
) -> str:
    """Lines on the whole program, its strongest terms with the methods behind them, then each method.

    method: only methods whose name ends so. option: only terms with a level of this option.
    """
    shown = [i for i in influences if option is None or not i.term or option in map(_option, i.term)]
    if method is not None:
        chosen = [i for i in shown if i.method is not None and i.method.endswith(method)]
        lines = (
            list(_methods(chosen, len(chosen)))
            if chosen
            else [f"No influence of an option was learnt on a method {clean(method)}."]
        )
        return "\n".join(lines) + "\n"
    if option is not None and not any(i.term for i in shown):
        return f"No method and not the whole program is known to depend on {clean(option)}.\n"
    lines = [*_system(shown), *_terms(shown)]
    if option is None:
        lines += _methods(shown, METHODS)
    return "\n".join(lines) + "\n" if lines else "No influence model has been learnt yet.\n"


def amount(i: Influence) -> str:
    """What a term adds, with its interval: "+33 ms (+14 ms to +53 ms)", "+1.2 M calls (+1 M to +1.4 M)"."""
    told, low, high = (_signed(value, i) for value in (i.influence, *i.interval))
    return f"{told}{_unit(i)}" + (f" ({low} to {high})" if low != high else "")  # counts may be known exactly


def _option(level: str) -> str:
    """The option of a level's text."""
    name = level.removeprefix("!")
    for sign in (">=", "<", "="):
        name = name.partition(sign)[0]
    return name


def _system(influences: Sequence[Influence]) -> Iterator[str]:
    own = [i for i in influences if i.method is None]
    yield from _block("Whole program", own, "of its mean cost")


def _terms(influences: Sequence[Influence]) -> Iterator[str]:
    """Option -> methods: of each strong term the methods that explain it, and what stays unexplained."""
    groups: dict[tuple[str, ...], list[Influence]] = {}
    main = _main(influences)
    for i in influences:
        if i.term and i.method is not None and i.quantity == main:
            groups.setdefault(i.term, []).append(i)
    system = {i.term: i for i in influences if i.method is None}
    order = sorted(groups, key=lambda t: -abs(system[t].influence if t in system else _sum(groups[t])))
    for term in order[:TERMS]:
        found = sorted(groups[term], key=lambda i: -abs(i.share))
        whole = f"  {amount(system[term])} in the whole program" if term in system else ""
        yield f"{_name(term)}{whole}"
        for i in found[:ROWS]:
            yield f"  {fraction(i.share):>7}  {clean(i.method or '')}  {amount(i)}"
        if len(found) > ROWS:
            yield f"           {len(found) - ROWS} more"
        if term in system:
            yield f"  {fraction(1.0 - sum(i.share for i in found)):>7}  not explained by these methods"
        yield ""


def _methods(influences: Sequence[Influence], most: int) -> Iterator[str]:
    """Method -> options."""
    groups: dict[str, list[Influence]] = {}
    for i in influences:
        if i.method is not None:
            groups.setdefault(i.method, []).append(i)
    known = {name: found for name, found in groups.items() if any(i.term for i in found)}
    for number, (name, found) in enumerate(known.items()):
        if number < most:
            of = "influence" if found[0].quantity == _main(influences) else found[0].quantity
            yield from _block(clean(name), found, f"of the program's {of}")
    if len(known) > most:
        yield f"{len(known) - most} more methods; --method shows those whose name ends so."


def _block(name: str, found: Sequence[Influence], of: str) -> Iterator[str]:
    if not found:
        return
    mean = next((i for i in found if not i.term), None)
    cost = f"  {_value(mean.influence, mean)} in the mean" if mean is not None else ""
    floor = found[0].noise_floor
    noise = f", noise {fraction(floor)}" if floor is not None else ""
    yield f"{name}{cost} (model error {fraction(found[0].error)}{noise})"
    terms = [i for i in found if i.term]
    for i in terms[:ROWS]:
        yield f"  {_name(i.term)}  {amount(i)}  {fraction(i.share)} {of}"
        if len(i.curve) > 2:
            yield f"    {'  '.join(f'{value:g}: {_value(cost, i)}' for value, cost in i.curve)}"
    if len(terms) > ROWS:
        yield f"  {len(terms) - ROWS} more"
    yield ""


def _name(term: Sequence[str]) -> str:
    return clean(" + ".join(term))


def _signed(value: float, i: Influence) -> str:
    return f"{'-' if value < 0 else '+'}{_number(abs(value), i)}"


def _value(value: float, i: Influence) -> str:
    return f"{_number(value, i)}{_unit(i)}"


def _unit(i: Influence) -> str:
    """Behind a number: seconds have theirs, of a table's own metric nobody knows it."""
    return "" if i.quantity in ("seconds", "metric") else f" {i.quantity}"


def _number(value: float, i: Influence) -> str:
    """Seconds with their unit, counts without."""
    if i.quantity == "seconds":
        return seconds(value)
    return engineering(round(value)) if value >= GRAINS else f"{value:,.0f}"


def _main(influences: Sequence[Influence]) -> str:
    """What the program is told in; of some methods only calls are known."""
    return next((i.quantity for i in influences if i.quantity != "calls"), "calls")


def _sum(influences: Sequence[Influence]) -> float:
    return sum(i.influence for i in influences)
