"""Folded sections: changed configurations, how to reproduce, what was visible, the run, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from bot.model.noise import Noise
from bot.model.report import ConfigurationChange, Report, State
from bot.model.space import Term
from bot.report import doubts, words
from bot.report.claims import changed_options, power, unexercised
from bot.report.formats import (
    Prose,
    Words,
    clean,
    code,
    count,
    fraction,
    join,
    percent,
    prose,
    seconds,
    sentence,
    shell,
    shorten,
)
from bot.report.parts import Block, Bullets, Section, Table
from bot.report.suspects import more

ROWS = 20
"""Rows of a table in a comment; the report file has all."""
MOST_REPRODUCED, LONGEST_SCRIPT = 5, 6000
MOST_NOTES, MOST_NAMES = 30, 20


def changed(report: Report, rows: int) -> Section | None:
    """Configurations that moved, seem to or failed, the default one first; the others are only counted."""
    if not report.configurations:
        return None
    primary = [c for c in report.configurations if c.metric == report.primary_metric]
    others = [c for c in report.configurations if c.metric != report.primary_metric]
    far_off = [c for c in primary if doubts.far_off(report, c)]
    shown = sorted((c for c in primary if c.default or _moved(c) or c in far_off), key=_rank)
    shown += sorted((c for c in others if _moved(c)), key=_rank)
    default = words.default_options(report)
    cells = tuple((words.configuration(c.options, default), _outcome(c), _pairs(c)) for c in shown[:rows])
    states = Counter(c.state for c in primary)
    parts = [f"{states[s]:,} {said}" for s, said in _STATES.items() if states[s]]
    blocks: tuple[Block, ...] = (
        prose(
            "Each by its difference from the default configuration; pairs are runs of base and head together."
        ),
        Table(("Configuration", "Change", "Pairs"), cells, "lnr"),
        *more(len(shown), rows, "configuration"),
    )
    return Section("configurations", f"Configurations: {', '.join(parts)}", blocks)


_STATES: dict[State, str] = {
    "slower": "slower",
    "faster": "faster",
    "failed": "failed",
    "unclear": "unclear",
    "same": "unchanged",
}


def _moved(found: ConfigurationChange) -> bool:
    return found.state in ("slower", "faster", "failed")


def _rank(found: ConfigurationChange) -> tuple[bool, bool, float]:
    return (not found.default, found.state == "failed", -abs((found.ratio or 1.0) - 1.0))


def _outcome(found: ConfigurationChange) -> Prose:
    if found.ratio is None or found.state == "failed":
        return prose("failed: ", sentence(found.failure or "no pair ended well", limit=120))
    unsure = {"same": ", unchanged", "unclear": ", unclear"}.get(found.state, "")
    return prose(words.amount(found), unsure)


def _pairs(found: ConfigurationChange) -> str:
    return f"{found.pairs:,}" + (f" ({found.failed_pairs:,} failed)" if found.failed_pairs else "")


def reproductions(report: Report) -> Section | None:
    """The exact commands of each flagged configuration; what the first one sets up serves the others."""
    default = words.default_options(report)
    blocks: list[Block] = []
    done: tuple[str, ...] = ()
    for one in report.reproduce[:MOST_REPRODUCED]:
        if not one.commands:
            continue
        # The last line is always shown.
        both = zip(one.commands[:-1], done, strict=False)
        known = sum(1 for _ in takewhile(lambda two: two[0] == two[1], both))
        done = done or one.commands
        listing = shell(one.commands[known:])
        then = " in the same worktrees:" if known else ":"
        blocks.append(prose(words.configuration(one.options, default), then))
        long = len(listing.text) > LONGEST_SCRIPT
        blocks.append(prose("(too long to show here; it is in the report)") if long else listing)
    blocks += more(len(report.reproduce), MOST_REPRODUCED, "configuration")
    return Section("reproduce", "How to reproduce", tuple(blocks)) if blocks else None


def visible(report: Report, rows: int) -> Section | None:
    """What this run could have seen per option, the blindest first, and what it did not exercise."""
    seen = report.visible
    missed = unexercised(report)
    if not report.measured or not (seen.options or missed or seen.everything is not None):
        return None
    options = sorted(seen.options, key=lambda o: (o.slow_down is not None, -(o.slow_down or 0.0)))
    found = changed_options(report)
    blind = {o.option: "a change was found" if o.option in found else "too few pairs" for o in options}
    cells = tuple(
        (code(o.option), prose(blind[o.option] if o.slow_down is None else percent(1 + o.slow_down)))
        for o in options[:rows]
    )
    blocks: list[Block] = [power(report)]
    if seen.everything is not None:
        blocks.append(prose(f"In every configuration at once: {percent(1 + seen.everything)}."))
    if cells:
        blocks += [
            Table(("Option", "Smallest slow-down seen"), cells, "lr"),
            *more(len(options), rows, "option"),
        ]
    blocks += not_exercised("Levels", [(x,) for x in seen.levels_not_exercised])
    blocks += not_exercised("Pairs", seen.pairs_not_exercised, seen.pairs_not_exercised_count)
    return Section("visible", "What this run could have seen", tuple(blocks))


def not_exercised(what: str, terms: Sequence[Term], counted: int = 0) -> list[Block]:
    """Levels or pairs that no configuration had: how many, and the first of them by name."""
    total = max(len(terms), counted)
    if not total:
        return []
    shown = [words.term(term) for term in terms[:MOST_NAMES]]
    rest = total - len(shown)
    listed = join([*shown, *([prose(f"{rest:,} more")] if rest and shown else [])], "; ")
    return [prose(f"{what} not exercised ({total:,})", ": " if shown else "", listed, ".")]


def conditions(report: Report) -> Section:
    """The run itself: revisions, cost, noise, machine, history, the rule of decision."""
    rows: list[tuple[Words, Words]] = []
    for name, ref in (("Base", report.base), ("Head", report.head)):
        if ref is not None:
            same = ref.label == ref.revision
            rows.append(
                (name, code(ref.revision) if same else prose(code(ref.label), " ", code(ref.revision)))
            )
    rows += _cost(report)
    rows += [("Noise of this run", _noise(n)) for n in report.environment.noise]
    rows += machine(report)
    rows.append(("History", history(report)))
    rule = (
        f"changes under {fraction(report.threshold)} are not told; at most {fraction(report.false_alarms)} "
    )
    rows.append(("Rule", rule + "of pull requests without a change are alarmed"))
    return Section("run", "This run: cost, noise, machine, history", (Table(("", ""), tuple(rows), "ll"),))


def _cost(report: Report) -> list[tuple[Words, Words]]:
    spent = report.spent
    budget = f" of {seconds(spent.budget_seconds)}" if spent.budget_seconds else ""
    measured = (
        f"{seconds(spent.seconds)}{budget}: {count(spent.pairs, 'pair')}, {count(spent.trials, 'trial')}"
    )
    failed = f", {spent.failed_trials:,} failed" if spent.failed_trials else ""
    rows: list[tuple[Words, Words]] = [("Measuring", measured + failed)]
    if spent.build_seconds or spent.builds:
        rows.append(("Building", f"{seconds(spent.build_seconds)}: {count(spent.builds, 'build')}"))
    return rows


def _noise(noise: Noise) -> Prose:
    if noise.sd_percent is None:
        return prose("not known (no pair of base against base)")
    bias = "" if noise.bias_percent is None else f", shift {noise.bias_percent:+.2f} %"
    spread = f": base against base spreads by {noise.sd_percent:.2f} %{bias}, {count(noise.pairs, 'pair')}"
    return prose(words.metric(noise.metric).noun, spread)


def machine(report: Report) -> list[tuple[Words, Words]]:
    """What it ran on, as rows of a table."""
    found = report.environment
    rows: list[tuple[Words, Words]] = []
    cores = f", {count(found.cores, 'core')}" if found.cores else ""
    system = ", ".join(shorten(clean(t), 80) for t in (found.kernel, found.image) if t)
    tools = ", ".join(shorten(clean(f"{n} {v}"), 60) for n, v in list(found.tools.items())[:MOST_NAMES])
    load = f"{found.load[0]:.1f} before, {found.load[1]:.1f} after" if found.load else ""
    for name, text in (
        ("Machine", f"{found.cpu}{cores}"),
        ("System", system),
        ("Tools", tools),
        ("Load", load),
    ):
        if text:
            rows.append((name, sentence(text)))
    return rows


def history(report: Report) -> Prose:
    """Where the history came from, and how much it is."""
    found = report.history
    if found.source is None:
        measured = "pairs" if report.mode == "pull_request" else "trials"
        return prose(f"none: this run stands on its own {measured}")
    if not found.measurements:
        return prose("nothing in ", code(found.source), " that this run can be compared with")
    age = f", newest {found.age_days:.1f} days old" if found.age_days is not None else ""
    return prose(count(found.measurements, "measurement"), " from ", code(found.source), age)


def notes(report: Report) -> Section | None:
    """What could not be done, and why."""
    return listed_notes(report.notes)


def listed_notes(found: Sequence[str]) -> Section | None:
    """Notes as a list; None when there are none."""
    if not found:
        return None
    rest = len(found) - MOST_NOTES
    items = [sentence(n) for n in found[:MOST_NOTES]]
    items += [prose(f"and {rest:,} more, in the report")] if rest > 0 else []
    return Section("notes", f"Notes ({len(found):,})", (Bullets(tuple(items)),))
