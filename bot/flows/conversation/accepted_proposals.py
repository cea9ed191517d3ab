"""What `/suspects accept` comes to: entries for what was reported, as a change that a person can review."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from pydantic import ValidationError

from bot.flows.conversation.commands import Act, web_link
from bot.flows.history.accepting import harmful
from bot.flows.nights.proposing import Proposals, digest
from bot.flows.publish import ARTIFACT, Artifacts
from bot.flows.publishing.disarm import disarm
from bot.model.accepted import PATH, AcceptedChange
from bot.model.comment_commands import Accept, SaidComment, term_text
from bot.model.errors import ArtifactError, ForgeError, ForgeRefusedError, UsageError
from bot.model.forge import FileChange, PullRequest, Stamp
from bot.model.report import Effect, Report
from bot.report import words
from bot.report.formats import Prose, code, join, prose, sentence
from bot.report.media import markdown

USUAL_DAYS = 90
"""How long a change is accepted for where nobody says until when. Arbitrary: a quarter."""
FARTHEST = 100.0
"""A change by more than this factor is not accepted by a word."""
TRIES = 3
MOST_TERMS = 5


class Reports(Protocol):
    """Which report people see, and where the accepted file is."""

    def shown(self, number: int) -> Stamp | None:
        """Whose report our comment on a pull request holds; None: there is none."""
        ...

    def tip(self, branch: str) -> str:
        """The newest commit of a branch."""
        ...

    def file(self, path: str, revision: str) -> str | None:
        """The text of a file at a revision; None: there is none."""
        ...


@dataclass(frozen=True)
class AcceptedFile:
    """What knows the file: (text, name) -> entries or a UsageError; (text, entry) -> text with it."""

    read: Callable[[str, str], Sequence[AcceptedChange]]
    with_entry: Callable[[str, AcceptedChange], str]


@dataclass(frozen=True)
class Acceptor:
    """Proposes to accept what our comment reports. repository: owner/name, to tell forks.

    proposals: (pull request) -> the branch and pull request for what is accepted of it.
    """

    reports: Reports
    artifacts: Artifacts
    proposals: Callable[[PullRequest], Proposals]
    file: AcceptedFile
    repository: str
    said: SaidComment

    def accepting(self, pull: PullRequest, command: Accept) -> Act:
        """Looks up what is to be accepted; acting proposes it.

        Raises:
            UsageError: no such change is reported for the head.
        """
        report = self._report(pull)
        entries = self._entries(report, command)

        def act() -> Prose:
            url = self._proposed(pull, entries)
            return prose(
                _told(entries), ": ", web_link("proposed", url),
                "; it counts once that is merged and this branch has it.",
            )  # fmt: skip

        return act

    def _report(self, pull: PullRequest) -> Report:
        """The report that people see, as its run left it; a fork's with nothing but names and numbers."""
        stamp = self.reports.shown(pull.number)
        if stamp is None or not stamp.run_id:
            raise UsageError("there is no report on this pull request whose change could be accepted")
        if stamp.head_sha != pull.head_sha:
            raise UsageError(f"the report is not of the head `{pull.head_sha[:12]}`: wait for its own")
        report = self.artifacts.report(stamp.run_id, ARTIFACT)
        if report is None:
            raise UsageError(
                f"run {stamp.run_id} left no artifact `{ARTIFACT}`: comment `/suspects rerun` first"
            )
        if report.mode != "pull_request" or report.head is None or report.base is None:
            raise ArtifactError("the artifact holds no report of a pull request")
        if report.head.revision != pull.head_sha:
            raise ArtifactError("the artifact is of another head than the report that is shown")
        fork = pull.head_repository != self.repository
        return disarm(report, head_sha=pull.head_sha) if fork else report

    def _entries(self, report: Report, command: Accept) -> tuple[AcceptedChange, ...]:
        """One for each metric in which the term is reported to be worse."""
        alarmed = {
            (e.term, e.metric): e for e in (*report.suspects.options, *report.effects) if harmful(report, e)
        }
        found = [e for e in alarmed.values() if command.term in (e.term, *e.aliases)]
        if not found:
            known = dict.fromkeys(f"`{term_text(term)}`" for term, _ in list(alarmed)[:MOST_TERMS])
            there = f"; it alarms for {', '.join(known)}" if known else ""
            raise UsageError(f"the report has no alarm for `{term_text(command.term)}`{there}")
        try:
            return tuple(self._entry(effect, command) for effect in found)
        except ValidationError:
            raise ArtifactError("the report names something that no option or metric is called") from None

    def _entry(self, effect: Effect, command: Accept) -> AcceptedChange:
        return AcceptedChange(
            term=term_text(effect.term),
            metric=effect.metric,
            at_most=_worst(effect),
            until=command.until or self.said.created.date() + timedelta(days=USUAL_DAYS),
            reason=command.reason,
            pull_request=self.said.number,
            by=self.said.author,
        )

    def _proposed(self, pull: PullRequest, entries: Sequence[AcceptedChange]) -> str:
        """The address of the pull request that adds the entries; looks anew after each doubtful answer."""
        for attempt in range(TRIES):
            try:
                return self._propose(pull, entries)
            except ForgeRefusedError:
                raise
            except ForgeError:
                if attempt == TRIES - 1:
                    raise
        raise AssertionError("the last try returns or raises")

    def _propose(self, pull: PullRequest, entries: Sequence[AcceptedChange]) -> str:
        tip = self.reports.tip(pull.base_branch)
        before = self.reports.file(PATH, tip) or ""
        known = self.file.read(before, f"{pull.base_branch}:{PATH}")
        proposals = self.proposals(pull)
        standing = proposals.standing()
        if standing.state == "foreign":
            raise UsageError(
                f"somebody else committed to {standing.url or 'the branch'}: add the entry there"
            )
        earlier: Sequence[AcceptedChange] = ()
        if standing.state in ("open", "unopened"):
            earlier = [e for e in self.file.read(standing.text, "the proposal") if e not in known]
        text = before
        for entry in (*earlier, *entries):
            text = self.file.with_entry(text, entry)
        whole = {(entry.term, entry.metric): entry for entry in (*earlier, *entries)}
        change = FileChange(
            path=PATH,
            before=digest(before),
            text=text,
            revision=tip,
            title=f"Accept {len(whole)} slow-down{'s' * (len(whole) > 1)} of #{pull.number}",
            body=_body(pull, list(whole.values())),
        )
        return proposals.propose(change, standing)


def _worst(effect: Effect) -> float:
    """The far end of the interval, in whole percents above it (0.07 is 7 %)."""
    low, high = effect.interval
    far = min(high if effect.ratio > 1 else 1 / max(low, 1 / FARTHEST), FARTHEST)
    return math.ceil(round(100 * (far - 1), 6)) / 100 or 0.01


def _told(entries: Sequence[AcceptedChange]) -> Prose:
    parts = [
        prose(words.within(e.term), f": up to {100 * (e.at_most or 0):.0f} % ", words.metric(e.metric).noun)
        for e in entries
    ]
    return prose(join(parts, "; "), f", until {entries[0].until}")


def _body(pull: PullRequest, entries: Sequence[AcceptedChange]) -> str:
    """The proposal for its reviewers, in Markdown."""
    lines = []
    for entry in entries:
        why = prose(" Reason: ", sentence(entry.reason), ".") if entry.reason else ""
        lines.append(f"- {markdown(prose(_told([entry]), ', said by ', code(entry.by), '.', why))}")
    listed = "\n".join(lines)
    return (
        f"Slow-downs that #{pull.number} reports are to be accepted. Once this is merged, Suspects shows "
        "such changes and does not alarm for them, up to the size and until the day that is named. Edit or "
        f"close this as you see fit.\n\n{listed}\n"
    )
