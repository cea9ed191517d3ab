"""Obeys a comment: who may, what was meant, which head was seen; then acts once, reacts and answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from bot.flows.conversation.language import read_command
from bot.model.comment_commands import Accept, Bisect, CommentCommand, Ran, Reaction, Rerun, SaidComment
from bot.model.errors import ForgeError, SuspectsError, UsageError
from bot.model.forge import PullRequest
from bot.report.formats import Prose, code, linked, prose, sentence
from bot.report.media import markdown

MEASURING, RERUN, BISECT = "suspects.yml", "suspects-rerun.yml", "suspects-bisect.yml"
"""Workflows as `suspects init` names them: whose runs tell when a head came, and what is dispatched."""
_ADDRESS = re.compile(r"https://[A-Za-z0-9.:-]+/[A-Za-z0-9._/-]+(?:#issuecomment-[0-9]+)?")

Act: TypeAlias = Callable[[], Prose]
"""What a command comes to, once everything that can be refused was; says what it did."""


class Talk(Protocol):
    """What commands ask of the place where people comment. Every method may raise ForgeError."""

    def pull_request(self, number: int) -> PullRequest:
        """A pull request as it is now."""
        ...

    def may_write(self, author: str, author_id: int) -> bool:
        """Whether this very person has write permission."""
        ...

    def newest_run(self, workflow: str, pull: PullRequest) -> Ran | None:
        """The newest run of a workflow that this pull request's branch started; None: none did."""
        ...

    def reported(self, number: int) -> Ran | None:
        """Which head our report is of, and since when it stands there; None: there is none."""
        ...

    def commit(self, revision: str) -> str | None:
        """The full id of a commit, branch or tag; None: there is none."""
        ...

    def react(self, comment_id: int, reaction: Reaction) -> bool:
        """Puts our reaction on a comment; whether it was not there yet. Tried once."""
        ...

    def dispatch(self, workflow: str, inputs: Mapping[str, str]) -> str:
        """Starts a workflow of the default branch, once; where it is seen."""
        ...

    def answer(self, number: int, comment_id: int, line: str) -> str | None:
        """Puts a line for a comment below our report, in its place if it has one; where it is seen."""
        ...


@dataclass(frozen=True)
class Obeyed:
    """How a comment ended; `url`: of our comment with the answer."""

    ending: Literal["nothing", "refused", "done"]
    reason: str
    url: str | None = None


def obey(talk: Talk, said: SaidComment, accepting: Callable[[PullRequest, Accept], Act]) -> Obeyed:
    """Does what a comment asks for, at most once: our reaction `eyes` is the claim, who comes second stops.

    accepting: what an `accept` comes to. Whoever may not write gets a reaction, and no word in our comment.

    Raises:
        ForgeError: GitHub refused or did not answer; a rerun begins anew unless the comment was claimed.
    """
    asked = _read(said)
    if asked is None:
        return Obeyed("nothing", "the comment is not addressed to Suspects")
    if not said.human or not talk.may_write(said.author, said.author_id):
        _react(talk, said, "confused")
        return Obeyed("refused", "commands are for people with write permission")
    claiming = False
    try:
        act = _prepared(talk, said, asked, accepting)
        claiming = True
        if not talk.react(said.id, "eyes"):
            return Obeyed("nothing", "this comment was taken already; comment again to repeat it")
        done = act()
    except SuspectsError as error:
        if claiming and isinstance(error, ForgeError):
            error.add_note("Nothing is tried twice: look whether it began all the same, then comment again.")
        refused = _refused(talk, said, error)
        if isinstance(error, ForgeError):
            raise
        return refused
    _react(talk, said, "rocket")
    return Obeyed("done", str(done), _answer(talk, said, done))


def _read(said: SaidComment) -> CommentCommand | UsageError | None:
    try:
        return read_command(said.body, today=said.created.date())
    except UsageError as error:
        return error


def _prepared(
    talk: Talk,
    said: SaidComment,
    command: CommentCommand | UsageError,
    accepting: Callable[[PullRequest, Accept], Act],
) -> Act:
    """Reads and checks all that a command needs.

    Raises:
        UsageError: it was not understood, or cannot be done; one sentence.
    """
    if isinstance(command, UsageError):
        raise command
    pull = talk.pull_request(said.number)
    if not pull.open:
        raise UsageError("this pull request is closed")
    match command:
        case Bisect():
            return _bisection(talk, command)
        case Rerun():
            _require_seen(talk, said, pull)
            return _rerun(talk, pull, command)
        case Accept():
            _require_seen(talk, said, pull)
            return accepting(pull, command)


def _require_seen(talk: Talk, said: SaidComment, pull: PullRequest) -> None:
    """Whether the head is the one that stood there when the comment was written: by GitHub's clock alone.

    Commits carry dates of their author's choice; a push starts a run, and that has GitHub's. Where none was
    started (conflicts, a workflow of another name), our report says which head it is of, and since when.
    """
    ran = talk.newest_run(MEASURING, pull) or talk.reported(pull.number)
    head = pull.head_sha[:12]
    if ran is None:
        raise UsageError(
            f"no run of `{MEASURING}` has begun for `{head}` yet: wait for it, then comment again"
        )
    if ran.head_sha != pull.head_sha or ran.created > said.created:
        raise UsageError(f"`{head}` became the head after this was said: look at it, then comment again")


def _rerun(talk: Talk, pull: PullRequest, command: Rerun) -> Act:
    inputs = {
        "pull_request": str(pull.number),
        "base": pull.base_sha,
        "head": pull.head_sha,
        "budget": "" if command.budget is None else f"{command.budget:g}s",
    }

    def act() -> Prose:
        run = web_link("the run", talk.dispatch(RERUN, inputs))
        return prose(code(pull.head_sha[:12]), " is being measured again (", run, ").")

    return act


def _bisection(talk: Talk, command: Bisect) -> Act:
    found = []
    for revision in (command.good, command.bad):
        commit = talk.commit(revision)
        if commit is None:
            raise UsageError(f"this repository has no revision `{revision}`")
        found.append(commit)
    good, bad = found

    def act() -> Prose:
        run = web_link("the run", talk.dispatch(BISECT, {"range": f"{good}..{bad}"}))
        shown = (
            code(command.good),
            " (",
            code(good[:12]),
            ") to ",
            code(command.bad),
            " (",
            code(bad[:12]),
            ")",
        )
        return prose(*shown, " is being searched; the result will be in the summary of ", run, ".")

    return act


def web_link(words: str | Prose, address: str) -> Prose:
    """Words that lead to an address of GitHub's, if it looks like one."""
    return linked(prose(words), address if _ADDRESS.fullmatch(address) else "")


def _refused(talk: Talk, said: SaidComment, error: SuspectsError) -> Obeyed:
    _react(talk, said, "confused")
    why = f"{error.told.removesuffix('.')}."
    return Obeyed("refused", why, _answer(talk, said, prose("not done: ", sentence(why))))


def _react(talk: Talk, said: SaidComment, reaction: Reaction) -> None:
    """A reaction is a courtesy: what was done stays done without it."""
    with suppress(ForgeError):
        talk.react(said.id, reaction)


def _answer(talk: Talk, said: SaidComment, words: Prose) -> str | None:
    """One line in our comment, likewise."""
    asked = web_link(code(said.body.partition("\n")[0]), said.url)
    try:
        return talk.answer(
            said.number, said.id, markdown(prose(asked, " (", code(said.author), "): ", words))
        )
    except ForgeError:
        return None
