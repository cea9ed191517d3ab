"""Sentences about failed trials: with which values head, base or both never work, and one example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.model.at_fault import at_fault, fitting_terms, fitting_terms_by_value, together_at_fault
from bot.model.report import LEAST_FAILED_PAIRS, ConfigurationChange, Report
from bot.model.space import Value, forbidding
from bot.report import words
from bot.report.formats import Prose, code, count, join, prose, sentence
from bot.report.hints import silent_exit


def who(report: Report) -> Prose:
    """With which values what never works: these flags are what to look at first."""
    head, base, both = _by_side(report)
    for broken, never, besides in (
        (head, "head never works", ""),
        (both, "nothing works", ""),
        (base, "base never works", ", where head does"),
    ):
        if shown := _values(report, broken):
            return prose(f" ({never} with ", join(shown, "; or with "), f"{besides})")
    return prose("")


def forbidden(report: Report) -> Prose | None:
    """The constraint that leaves out what works neither at base nor at head; None: no levels tell it."""
    failed, worked = [c.options for c in _by_side(report)[2]], _worked(report)
    fit = fitting_terms(failed, worked) if not at_fault(failed, worked) else ()
    if len(fit) != 1:
        return None
    written = code(f"constraints: [{forbidding(fit[0])}]")
    return prose("If that is how the program is meant to be, leave it out: ", written, ".")


def _by_side(report: Report) -> tuple[Sequence[ConfigurationChange], ...]:
    """What fails at head alone, what fails at base alone, and all else that fails."""
    failed = [c for c in _primary(report) if c.state == "failed"]
    head, base = report.broken_at_head, [c for c in failed if c.failed_sides == ("base",)]
    if sum(c.failed_pairs for c in base) < LEAST_FAILED_PAIRS:  # may be chance, as at head
        base = []
    return head, base, [c for c in failed if c not in (*head, *base)]


def broken_values(report: Report) -> list[Prose]:
    """Values with which head fails, where base works; or values that only fail together; empty: not known."""
    return _values(report, report.broken_at_head)


def how_they_fit(report: Report) -> tuple[Prose, ...]:
    """Of values that only fail together: how many configurations have them, and how many others work."""
    failed, worked = [c.options for c in report.broken_at_head], _worked(report)
    fit = () if at_fault(failed, worked) else fitting_terms(failed, worked)
    if not fit:
        return ()
    have = ("it", "both", "all three")[len(fit[0]) - 1]
    others = count(len(worked), "other")
    open_ = "; this run cannot tell which of these it is" if len(fit) > 1 else ""
    said = (
        f"All {len(failed)} configurations that have {have} fail, and none of the {others} where base works"
    )
    return (prose(said, open_, "."),)


def _values(report: Report, changes: Iterable[ConfigurationChange]) -> list[Prose]:
    failed, worked = [c.options for c in changes], _worked(report)
    if not worked:
        return []
    if values := at_fault(failed, worked):
        return [words.configuration(together, None) for together in values]
    if fit := fitting_terms(failed, worked):
        return [join([words.term(tuple(map(str, levels))) for levels in fit], ", or with ")]
    if by_value := fitting_terms_by_value(failed, worked):
        return [words.term(tuple(map(str, levels))) for levels in by_value]
    both = together_at_fault(failed, worked)
    return (
        [join([words.configuration({name: v}, None) for name, v in both.items()], "", " and ")]
        if both
        else []
    )


def _worked(report: Report) -> list[dict[str, Value]]:
    return [c.options for c in _primary(report) if c.pairs]


def _primary(report: Report) -> list[ConfigurationChange]:
    return [c for c in report.configurations if c.metric == report.primary_metric]


def example(report: Report) -> Prose:
    """The plainest configuration that failed, and how; where head alone fails, one of these."""
    failed = [[c for c in some if c.failure] for some in (report.broken_at_head, report.configurations)]
    default = words.default_options(report)
    plain = (default or {}).items()
    failing = min(failed[0] or failed[1], key=lambda c: len(c.options.items() - plain), default=None)
    if failing is None:
        return prose("")
    where = words.configuration(failing.options, default)
    said = prose(", for example ", where, ": ", sentence(failing.failure.rstrip(". "), limit=160))
    silent = silent_exit(failing.failure)
    if silent is None:
        return said
    return prose(said, f" (if all is well then, list {silent} under ", code("ok_exit"), ")")
