"""Terms, configurations and metrics in plain words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.model.report import ChangePoint, ConfigurationChange, Effect, Report
from bot.model.report_methods import MethodSuspect
from bot.model.space import Term, Value, value_text
from bot.report.formats import Prose, change, code, join, prose, strong

MOST_LEVELS = 6
"""Levels spelled out of one term or configuration; more are counted."""
MOST_ALIASES = 3


@dataclass(frozen=True)
class Metric:
    """How a metric is spoken of."""

    noun: Prose
    worse: str
    better: str


_METRICS = {
    "cpu": Metric(prose("CPU time"), "Slower", "Faster"),
    "wall": Metric(prose("elapsed time"), "Slower", "Faster"),
    "instructions": Metric(prose("instructions"), "More work", "Less work"),
    "max_rss": Metric(prose("peak memory"), "More memory", "Less memory"),
}


def metric(name: str) -> Metric:
    """A built-in metric's words, or the subject's own metric by its name."""
    return _METRICS.get(name) or Metric(code(name), "Worse", "Better")


def worse(report: Report, effect: Effect | ConfigurationChange | ChangePoint) -> bool:
    """Whether the change is for the worse, given which way the metric is good."""
    ratio = effect.ratio if effect.ratio is not None else 1.0
    return ratio < 1 if effect.metric in report.higher_is_better else ratio > 1


def term(levels: Term) -> Prose:
    """A term: "`compress` on and `mangle` off", "`a` and `b` off"; the empty one is "every configuration"."""
    if not levels:
        return prose("every configuration")
    for alike, state in ((_switched_on, " on"), (_switched_off, " off")):
        if len(levels) <= MOST_LEVELS and all(map(alike, levels)):
            return prose(join([code(text.removeprefix("!")) for text in levels], ", ", " and "), state)
    shown = [_level(text) for text in levels[:MOST_LEVELS]]
    if len(levels) > MOST_LEVELS:
        shown.append(prose(f"{len(levels) - MOST_LEVELS} more levels"))
    return join(shown, ", ", " and ")


def within(levels: Term, *, capital: bool = False) -> Prose:
    """Where a change happens: "with `reduce_vars`", "without `mangle`", "in every configuration"."""
    with_, without, in_ = ("With ", "Without ", "In ") if capital else ("with ", "without ", "in ")
    if not levels:
        return prose(in_, "every configuration")
    if len(levels) == 1 and levels[0].startswith("!"):
        return prose(without, code(levels[0][1:]))
    if len(levels) <= MOST_LEVELS and all(_switched_on(text) for text in levels):
        return prose(with_, join([code(text) for text in levels], ", ", " and "))
    return prose(with_, term(levels))


def hit(effect: Effect | ChangePoint, *, capital: bool = False) -> Prose:
    """Where an effect happens, and where in that it does not: "in every configuration but without `a`".

    Everywhere but without several options is "with any of" these.
    """
    if options := _any_of(effect):
        return prose("With " if capital else "with ", options)
    return prose(within(effect.term, capital=capital), _but(effect))


def suspect(effect: Effect | ChangePoint) -> Prose:
    """Its term, and where within that it does not happen."""
    if options := _any_of(effect):
        return prose(options, " on")
    return prose(term(effect.term), _but(effect))


def _any_of(effect: Effect | ChangePoint) -> Prose | None:
    """Where all moves but what has none of several options: these, "`a` or `b`"; else None."""
    absent = effect.spared[0] if len(effect.spared) == 1 and not effect.term else ()
    if not 1 < len(absent) <= MOST_LEVELS or not all(map(_switched_off, absent)):
        return None
    names = [code(text.removeprefix("!")) for text in absent]
    return join(names, ", ", " or ") if len(names) == 2 else prose("any of ", join(names, ", ", " and "))


def _but(effect: Effect | ChangePoint) -> Prose:
    if not effect.spared:
        return prose("")
    spared = join([within(t) for t in effect.spared], ", ", " and ")
    return prose(", but not " if effect.term else " but ", spared)


def only_adds(alias: Term, to: Term) -> bool:
    """Whether an alias is a term with further levels; everything is told apart from any."""
    return bool(to) and set(to) < set(alias)


def aliases(terms: tuple[Term, ...]) -> Prose:
    """What cannot be told apart from a term in this program's valid configurations; empty when nothing."""
    if not terms:
        return prose("")
    shown = [term(t) for t in terms[:MOST_ALIASES]]
    if len(terms) > MOST_ALIASES:
        shown.append(prose(f"{len(terms) - MOST_ALIASES} others"))
    return prose("(cannot be told apart from ", join(shown, "; ", " or "), ")")


def configuration(options: Mapping[str, Value], default: Mapping[str, Value] | None) -> Prose:
    """A configuration by what differs from the default one (or all of it when there is none)."""
    reference = default or {}
    different = {n: v for n, v in options.items() if n not in reference or reference[n] != v}
    if not different:
        return prose("default configuration") if default is not None else prose("no options")
    shown = [_value(name, value) for name, value in list(different.items())[:MOST_LEVELS]]
    if len(different) > MOST_LEVELS:
        shown.append(prose(f"{len(different) - MOST_LEVELS} more"))
    return join(shown, ", ")


def around(method: MethodSuspect) -> Prose:
    """Where to look for what moved a blamed method."""
    if method.change == "new" and method.stands == "called" and method.callers:
        return prose("and around ", code(method.callers[-1]), ", which calls ", code(method.method), " now")
    if method.same_text:
        return prose(
            "what ", code(method.method), " calls (that may be inlined into it), what calls it, or what it "
            "works on: its own text is the same at both. If that is nothing, its code may only lie elsewhere "
            "in memory",
        )  # fmt: skip
    if method.cleared:
        return prose(
            "what ", code(method.method), " calls, what calls it, or what it works on: a build of head "
            "without the change of its own text takes about as long",
        )  # fmt: skip
    if method.file is None and method.owner is None:  # perhaps a library's, and nobody knows who called it
        return prose(code(method.method), " or in what calls it")
    return prose("and around ", code(method.owner.method if method.owner else method.method))


def amount(found: Effect | ConfigurationChange, *, emphasised: bool = False) -> Prose:
    """How much: "+34 % CPU time (31 to 37)"; needs a ratio."""
    assert found.ratio is not None
    number, _, interval = change(found.ratio, found.interval).partition(" (")
    shown = strong(number) if emphasised else prose(number)
    return prose(shown, " ", metric(found.metric).noun, f" ({interval}" if interval else "")


def default_options(report: Report) -> Mapping[str, Value] | None:
    """The default configuration's options, when it was part of the run."""
    return next((c.options for c in report.configurations if c.default), None)


def level_parts(level: str) -> tuple[str, str, str] | None:
    """Name, operator and value of a level; None for a switch (only numbers are compared)."""
    match = re.fullmatch(r"(.+?)(>=|<)([-+.\deE]+)", level) or re.fullmatch(r"(.+?)(=)(.*)", level)
    return (match[1], match[2], match[3]) if match else None


def option(level: str) -> str:
    """Which option a level is of."""
    parts = level_parts(level)
    return level.removeprefix("!") if parts is None else parts[0]


def _switched_on(level: str) -> bool:
    return not level.startswith("!") and level_parts(level) is None


def _switched_off(level: str) -> bool:
    return level.startswith("!") and level_parts(level) is None


def _level(level: str) -> Prose:
    parts = level_parts(level)
    if parts is None:
        return prose(code(level[1:]), " off") if level.startswith("!") else prose(code(level), " on")
    name, operator, value = parts
    if operator == "=":
        return code(f"{name}={value}")
    return prose(code(name), " at least " if operator == ">=" else " below ", code(value))


def _value(name: str, value: Value) -> Prose:
    if isinstance(value, bool):
        return prose(code(name), " on" if value else " off")
    return code(f"{name}={value_text(value)}")
