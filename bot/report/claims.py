"""Sentences about a report that can stand alone: who is hit, what was visible, what to be careful about."""

from __future__ import annotations

from bot.model.comment_commands import read_term, term_text
from bot.model.report import ConfigurationChange, Effect, Report
from bot.model.space import Term
from bot.model.trials import costly, unread
from bot.report import failures, unsteady, words
from bot.report.formats import (
    Prose,
    count,
    fraction,
    join,
    percent,
    probability,
    prose,
    seconds,
    sentence,
    strong,
)
from bot.report.hints import opening_for
from bot.report.ranges.moves import holds

LEAST_SLOWER, THRESHOLDS = 0.03, 3.0
"""A configuration's slow-down that leaves no report green, and in thresholds: the bounds of the verdict."""
FEWEST, MOSTLY = 4, 0.75
"""Configurations, and the share of them, from which on a title tells that they are not clear. Arbitrary."""
COARSE = 0.05
"""Smallest slow-down that is seen on no option, from which on a green title says so. Arbitrary."""
LONGEST_ACCEPTED = 200
UNPROVEN = 0.9
"""From here on "almost certain" would contradict "not proven". Arbitrary."""


def default(report: Report) -> Prose:
    """How the default configuration fares, in one sentence."""
    found = _default(report)
    if found is None:
        return prose("The default configuration was not measured.")
    if found.ratio is None or found.state == "failed":
        reason = sentence((found.failure or "no pair of runs ended well").rstrip(". "), limit=120)
        return prose("The default configuration ", strong("failed"), ": ", reason, ".")
    if found.state in ("same", "unclear"):
        if found.state == "same":
            said = _unproven(report, found)
        elif found.pairs == 1:
            # Its interval is how other pairs spread: whether this one was disturbed, nobody knows.
            said = "is unclear, of a single pair of runs"
        else:
            said = "seems worse, which is not proven" if default_seems_worse(report) else "is unclear"
        return prose(f"The default configuration {said}: ", words.amount(found), ".")
    return prose("Default configuration: ", words.amount(found, emphasised=True), ".")


def default_may_be_worse(report: Report) -> bool:
    """Whether the default configuration seems worse by what is worth telling, though it is not sure."""
    found = _default(report)
    if found is None or found.state not in ("same", "unclear"):
        return False
    return _reaches_threshold(report, found) and words.worse(report, found)


def default_seems_worse(report: Report) -> bool:
    """Whether all of the default configuration's interval is worse than the threshold, without an alarm."""
    found = _default(report)
    if found is None or found.state != "unclear" or found.interval is None or not _moved(found):
        return False
    nearest = min(abs(end - 1.0) for end in found.interval)
    return nearest > report.threshold and words.worse(report, found)


def _default(report: Report) -> ConfigurationChange | None:
    return next((c for c in report.configurations if c.default and c.metric == report.primary_metric), None)


def _unproven(report: Report, found: ConfigurationChange) -> str:
    if _reaches_threshold(report, found):
        return f"moved by about the threshold of {fraction(report.threshold)}"
    return "hardly changed" if _moved(found) else "did not change"


def _reaches_threshold(report: Report, found: ConfigurationChange) -> bool:
    return _moved(found) and found.ratio is not None and abs(found.ratio - 1.0) >= report.threshold


def _moved(found: ConfigurationChange) -> bool:
    return found.interval is not None and not found.interval[0] <= 1.0 <= found.interval[1]


def hit(report: Report, effect: Effect, *, capital: bool = True) -> Prose:
    """Who is hit, how much, how sure."""
    sure = f", {probability(effect.probability)}." if proves(effect) else "."
    amount = prose(words.amount(effect, emphasised=True), on_top(report, effect))
    return prose(words.hit(effect, capital=capital), ": ", amount, sure)


def on_top(report: Report, effect: Effect) -> Prose:
    """Which named changes of a part of its term a change comes on top of, for all sizes are told together."""
    known = [e.term for e in report.suspects.options if e.metric == effect.metric and e.significant]
    parts = [term for term in known if set(term) < set(effect.term)]
    nearest = [term for term in parts if not any(set(term) < set(other) for other in parts)]
    if not nearest or not effect.significant:
        return prose("")
    return prose(" on top of the change ", join([words.within(term) for term in nearest], ", ", " and "))


def proves(effect: Effect) -> bool:
    """Whether its probability may stand beside it: what too few pairs surely point at is no proof yet."""
    return effect.significant or effect.probability < UNPROVEN


def overall(report: Report) -> tuple[Prose, ...]:
    """The mean over all measured configurations, when the report has it."""
    found = next((e for e in report.effects if not e.term and e.metric == report.primary_metric), None)
    return (
        (prose("On average over all configurations: ", words.amount(found, emphasised=True), "."),)
        if found
        else ()
    )


def acceptance(effect: Effect) -> str:
    """The command that accepts a change; empty when its names cannot be pasted as they are."""
    text = term_text(effect.term)
    line = f"/suspects accept {text}"
    return line if read_term(text) == effect.term and len(line) <= LONGEST_ACCEPTED else ""


def accepted(report: Report) -> tuple[Prose, ...]:
    """Of each change that was accepted: what it is, until when, and why."""
    found = []
    for one in report.suspects.options:
        if one.accepted is not None:
            why = prose(" (", sentence(one.accepted.reason), ")") if one.accepted.reason else ""
            change = prose(words.hit(one), ": ", words.amount(one))
            found.append(prose("Accepted", acceptance_of(one), ": ", change, why, "."))
    return tuple(found)


def acceptance_of(effect: Effect) -> str:
    """By what an accepted change was: " until 2027-03-31", or " by a label"."""
    assert effect.accepted is not None
    return f" until {effect.accepted.until}" if effect.accepted.until else " by a label"


def power(report: Report) -> Prose:
    """What this run could have seen, and what it did not exercise, in one sentence."""
    seen = [o.slow_down for o in report.visible.options if o.slow_down is not None]
    found = changed_options(report)
    blind = sum(o.slow_down is None and o.option not in found for o in report.visible.options)
    noun = words.metric(report.primary_metric).noun
    parts = []
    if seen:
        others = "any option" if len(seen) == len(report.visible.options) else "any other option"
        on = others if not blind else count(len(seen), "option")
        parts.append(
            prose("This run would have seen ", strong(percent(1 + max(seen))), " ", noun, f" or more on {on}")
        )
    elif report.visible.everything is not None:
        least = percent(1 + report.visible.everything)
        parts.append(
            prose("This run would have seen ", strong(least), " ", noun, " or more in every configuration")
        )
    if blind:
        few = "too few pairs to see any" if parts else "This run had too few pairs to see any slow-down"
        parts.append(prose(f"{few} on {count(blind, 'option')}"))
    missed = unexercised(report)
    if missed:
        parts.append(prose(f"{missed} not exercised"))
    return prose(join(parts, "; "), ".") if parts else prose("What it could have seen is not known.")


def changed_options(report: Report) -> set[str]:
    """Options of proven suspects: however few pairs they had, a change was seen on them."""
    proven = [e for e in report.suspects.options if e.significant and e.metric == report.primary_metric]
    terms = [term for e in proven for term in (e.term, *aliases(report, e))]
    return {words.option(level) for term in terms for level in term}


def aliases(report: Report, effect: Effect) -> tuple[Term, ...]:
    """What else an effect may be of, without what only adds levels that hold wherever it was measured."""
    measured = [c.options for c in report.configurations if c.metric == effect.metric and c.pairs]
    there = [options for options in measured if holds(effect.term, options)]

    def adds_nothing(alias: Term) -> bool:
        everywhere = bool(there) and all(holds(alias, options) for options in there)
        return everywhere and words.only_adds(alias, effect.term)

    return tuple(alias for alias in effect.aliases if not adds_nothing(alias))


def saw_no_option(report: Report) -> bool:
    """Whether there are options, and a slow-down of none of them could have been seen, however large."""
    options = report.visible.options
    return bool(options) and all(o.slow_down is None for o in options)


def mostly_unseen(report: Report) -> str:
    """How many options were seen too little to tell, where these are the more, or how little of all others.

    Empty when they are not, and a slow-down of 5 % would have been seen on some option.
    """
    options, found = report.visible.options, changed_options(report)
    seen = sum(o.slow_down is not None or o.option in found for o in options)
    if options and 2 * seen < len(options):
        return f"; {len(options) - seen} of {count(len(options), 'option')} could not be seen"
    least = min((o.slow_down for o in options if o.slow_down is not None), default=0.0)
    if found or least <= COARSE:
        return ""
    return f"; nothing below {percent(1 + least)} could be seen on any option"


def too_slow(report: Report) -> float:
    """The slow-down, as a share, that a green report rules out."""
    return max(LEAST_SLOWER, THRESHOLDS * report.threshold)


def hardly_clear(report: Report) -> str:
    """How many configurations may each hide a slow-down that a verdict would not pass over, where most do.

    Options are judged by all of them together, and may be clear all the same. Empty: they are not the most.
    """
    primary = [c for c in report.configurations if c.metric == report.primary_metric]
    hidden = [c for c in primary if c.state == "unclear" and _may_hide(report, c, too_slow(report))]
    if len(primary) < FEWEST or len(hidden) <= MOSTLY * len(primary):
        return ""
    return f"; {len(hidden)} of {count(len(primary), 'configuration')} not clear by themselves"


def _may_hide(report: Report, one: ConfigurationChange, margin: float) -> bool:
    if one.interval is None:
        return True
    low, high = one.interval
    higher_is_better = one.metric in report.higher_is_better
    return bool(1.0 / low - 1.0 > margin) if higher_is_better and low > 0 else high - 1.0 > margin


def unexercised(report: Report) -> str:
    """How many levels and pairs of levels no configuration of this run had; empty when none."""
    levels = len(report.visible.levels_not_exercised)
    pairs = max(report.visible.pairs_not_exercised_count, len(report.visible.pairs_not_exercised))
    parts = [count(levels, "level")] if levels else []
    parts += [count(pairs, "pair of levels", "pairs of levels")] if pairs else []
    return " and ".join(parts)


def caveats(report: Report, *, fork: bool) -> tuple[Prose, ...]:
    """What limits these figures, one sentence each."""
    found = []
    if fork:
        found.append(prose("From a fork: the figures were measured by the pull request's own workflow. "
                           "Believe them as far as you trust its author."))  # fmt: skip
    if report.interrupted == "signal":
        found.append(prose(f"The run was stopped from outside after {count(report.spent.pairs, 'pair')}: "
                           "this report is partial."))  # fmt: skip
    if report.interrupted == "budget":
        budget = f" of {seconds(report.spent.budget_seconds)}" if report.spent.budget_seconds else ""
        found.append(
            prose(f"The time budget{budget} was spent before every planned configuration was measured.")
        )
        found += [sentence(note) for note in costly(report.notes)]
    found += [sentence(note) for note in unread(report.notes)]
    failed = report.spent.failed_trials
    if failed:
        told = f"{failed:,} of {count(report.spent.trials, 'trial')} failed"
        found.append(prose(told, failures.who(report), failures.example(report), "."))
        if (constraint := failures.forbidden(report)) is not None:
            found.append(constraint)
        if report.measured and (advice := opening_for([c.failure for c in report.configurations])):
            found.append(prose("Of some that failed: ", advice))
    return (*found, *(unsteady.caveat(report) if report.verdict in ("none", "inconclusive") else ()))
