"""What of a fork's report is made anew from the base's own configuration: names, rules and commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.model.errors import ArtifactError
from bot.model.report import Report, Reproduction
from bot.model.revisions import Comparison, Revision
from bot.model.space import Configuration, Space, Term, Value
from bot.model.subject import Subject
from bot.report.reproduce import repeated, reproduction

MOST = 50
"""Configurations with commands; a comment shows fewer."""


def rebuilt(report: Report, subject: Subject, *, number: int) -> Report:
    """The report with the subject's own rules, and with commands that no fork wrote.

    subject: of the base that was measured; number: of the pull request, where its head can be fetched.

    Raises:
        ArtifactError: it names an option, a value or a level that the subject does not have.
    """
    assert report.base is not None and report.head is not None
    space = subject.space
    _known(report, space)
    base, head = (Revision(ref.revision, ref.label) for ref in (report.base, report.head))
    comparison = Comparison(base, head)
    flagged = [_configuration(space.as_dict(one), space) for one in repeated(report, space)][:MOST]
    return report.model_copy(
        update={
            "threshold": subject.threshold,
            "false_alarms": subject.false_alarms,
            "reproduce": tuple(
                _fetched(reproduction(subject, comparison, configuration), number)
                for configuration in flagged
            ),
        }
    )


def _known(report: Report, space: Space) -> None:
    suspects, visible = report.suspects, report.visible
    effects = (*report.effects, *suspects.options)
    terms: list[Term] = [term for effect in effects for term in (effect.term, *effect.aliases)]
    terms += [term for method in suspects.methods for term in method.terms]
    terms += [visible.levels_not_exercised, *visible.pairs_not_exercised]
    _same({level for term in terms for level in term}, space.level_of)
    _same({one.option for one in visible.options}, space.index)
    every = [change.options for change in report.configurations]
    every += [method.options for method in suspects.methods]
    every += [profile.options for profile in report.profiles]
    for options in filter(None, every):
        _configuration(options, space)


def _same(found: Iterable[str], known: Mapping[str, object]) -> None:
    if not known.keys() >= set(found):
        raise ArtifactError("the report names options or levels that the base's configuration does not have")


def _configuration(options: Mapping[str, Value], space: Space) -> Configuration:
    """The space's own values: what is shown and typed is never a copy of the fork's."""
    if options.keys() != space.index.keys():
        raise ArtifactError("the report has a configuration of other options than the base's configuration")
    return tuple(_value(options[one.name], one.values) for one in space.options)


def _value(given: Value, allowed: tuple[Value, ...]) -> Value:
    for value in allowed:
        if given == value and isinstance(given, bool) == isinstance(value, bool):
            return value
    raise ArtifactError("the report has a value that the base's configuration does not have")


def _fetched(found: Reproduction, number: int) -> Reproduction:
    """The same commands, after the one that brings the fork's commits."""
    fetch = f"git fetch origin pull/{number}/head"
    return found.model_copy(update={"commands": (fetch, *found.commands) if found.commands else ()})
