"""Comments that command: by whom, of what, once; what hostile ones get; what a lost answer changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.adapters.github.artifacts import Insistence
from bot.adapters.github.forge import Patience
from bot.commands.commented import speaking
from bot.event import choose, read_event
from bot.flows.conversation.commands import Obeyed, obey
from bot.model.comment_commands import SaidComment
from bot.model.errors import ForgeError
from bot.model.forge import Stamp
from bot.model.report import Report, Suspects
from bot.settings import Settings
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token
from tests.github.reports import BASE, HEAD, packed, report

FORK, RUN = "eve/tools", 500
PUSHED, SAID, LATER = "2026-11-21T12:00:00Z", "2026-11-21T12:30:00Z", "2026-11-21T12:30:01Z"
JOB = Token(permissions={"actions": "write", "contents": "write", "pull-requests": "write"})
FILE = ".github/suspects.accepted.yml"
Command = Callable[..., Obeyed]


class Thread:
    """A pull request on which people comment; `command` is what the workflow's job does."""

    def __init__(self, github: FakeGithub) -> None:
        self.github = github
        github.tokens[WORKFLOW] = JOB
        self.tip = github.git.commit({"program.py": "work()\n"}, branch="main")
        github.pull(7, head=HEAD, source=REPOSITORY)
        github.run(RUN, head=HEAD, source=REPOSITORY, created=PUSHED)
        self.sticky = github.say(7, shown(), login="github-actions[bot]")
        github.artifact(RUN, packed(report()))
        self.said: SaidComment | None = None

    def command(
        self, body: str, *, user: dict[str, Any] | None = None, again: bool = False, **more: Any
    ) -> Obeyed:
        """Somebody says it, and the job runs; `again`: the job of the last comment is started once more."""
        if not again:
            self.said = self.say(body, user=user, **more)
        assert self.said is not None
        settings = Settings.read(
            {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_TOKEN": WORKFLOW, "GITHUB_API_URL": self.github.api.url}
        )
        patience = Patience(tries=2, backoff=0, secondary_wait=0, pause=lambda _: None)
        insistence = Insistence(pause=lambda _: None)
        with speaking(settings, self.said, patience, insistence) as (talk, acceptor):
            return obey(talk, self.said, acceptor.accepting)

    def say(self, body: str, *, user: dict[str, Any] | None = None, number: int = 7) -> SaidComment:
        comment = self.github.say(number, body, login="ann")
        comment["user"] |= {"id": 5, "type": "User"} | (user or {})
        comment["created_at"] = SAID
        issue = {"number": number, "pull_request": {"url": "https://example.test"}}
        event = {"action": "created", "issue": issue, "comment": comment}
        said = choose(read_event("issue_comment", event)).said
        assert said is not None
        return said

    def again(self) -> Obeyed:
        return self.command("", again=True)

    @property
    def reactions(self) -> list[str]:
        """On the last comment."""
        assert self.said is not None
        return self.github.talk.on(self.said.id)

    @property
    def answers(self) -> str:
        """What our comment says below the report."""
        (body,) = self.github.bodies()
        return body.partition("<!-- suspects answers -->")[2]

    @property
    def proposals(self) -> list[dict[str, Any]]:
        return [pull for number, pull in self.github.pulls.items() if number != 7]

    def proposed(self) -> str:
        """The file on the branch of the one proposal."""
        assert len(self.proposals) == 1
        return self.github.git.files(self.github.git.branches["suspects/accepted-7"])[FILE]


def shown(head: str = HEAD, run: int = RUN) -> str:
    """Our comment with a report."""
    return f"<!-- suspects pull-request run={run} attempt=1 head={head} -->\n### The report"


@pytest.fixture
def thread(github: FakeGithub) -> Thread:
    return Thread(github)


RERUN = {"pull_request": "7", "base": BASE, "head": HEAD, "budget": ""}


def test_a_rerun_is_dispatched_with_the_ids_that_were_seen(thread: Thread) -> None:
    ended = thread.command("/suspects rerun 10m")
    assert ended.ending == "done", ended
    asked = RERUN | {"budget": "600s"}
    assert thread.github.talk.dispatched == [("suspects-rerun.yml", "main", asked)]
    assert thread.reactions == ["eyes", "rocket"]
    body = thread.github.bodies()[0]
    assert body.startswith(shown()) and ended.url == thread.sticky["html_url"]
    assert "[`/suspects rerun 10m`](https://example.test/octo/tools/pull/7#issuecomment-" in body
    assert (
        "(`ann`): `aaaaaaaaaaaa` is being measured again ([the run](https://example.test/octo/tools/actions/"
        in body
    )
    assert len(thread.github.bodies()) == 1


def test_a_bisection_is_dispatched_with_full_ids(thread: Thread) -> None:
    thread.github.talk.commits = {"v1.0": "1" * 40, "release/2.x": "2" * 40}
    assert thread.command("/suspects bisect v1.0..release/2.x").ending == "done"
    wanted = [("suspects-bisect.yml", "main", {"range": f"{'1' * 40}..{'2' * 40}"})]
    assert thread.github.talk.dispatched == wanted
    assert thread.command("/suspects bisect v1.0..nowhere").ending == "refused"
    assert thread.github.talk.dispatched == wanted and "no revision `nowhere`" in thread.answers


def test_an_accepted_change_becomes_a_pull_request_with_an_entry(thread: Thread) -> None:
    ended = thread.command("/suspects accept level>=3+compress until 2027-03-31 it's worth it: {{ x }} @mona")
    assert ended.ending == "done", ended
    assert thread.proposed().endswith(
        "version: 1\naccepted:\n- term: compress+level>=3\n  metric: cpu\n  at_most: 6%\n"
        '  until: 2027-03-31\n  reason: "it\'s worth it: {{ x }} @mona"\n  pull_request: 7\n  by: ann\n'
    )
    (pull,) = thread.proposals
    assert pull["title"] == "Accept 1 slow-down of #7"
    assert "@&#8203;mona" in pull["body"] and "said by `ann`" in pull["body"]
    assert thread.reactions == ["eyes", "rocket"] and f"[proposed]({pull['html_url']})" in thread.answers
    assert thread.github.talk.dispatched == []


def test_what_is_accepted_for_nobody_says_how_long_ends_after_a_quarter(thread: Thread) -> None:
    thread.command("/suspects accept !fast")
    assert "term: compress+level>=3\n" in thread.proposed()  # as the report names it
    assert (
        "until: 2027-02-19\n" in thread.proposed()
        and "reason" not in thread.proposed().partition("version")[2]
    )


def test_a_second_acceptance_joins_the_first_and_people_s_own_entries_stay(thread: Thread) -> None:
    people = "# ours\nversion: 1\naccepted:\n- term: old # kept\n  metric: cpu\n  until: 2027-01-01\n"
    thread.github.git.commit({FILE: people}, parents=[thread.tip], branch="main")
    two = report()
    memory = two.suspects.options[0].model_copy(
        update={"term": (), "metric": "max_rss", "ratio": 1.2, "aliases": ()}
    )
    relabel(thread, two.model_copy(update={"suspects": Suspects(options=(*two.suspects.options, memory))}))
    thread.command("/suspects accept compress+level>=3")
    thread.command("/suspects accept everything")
    text = thread.proposed()
    assert text.startswith(people)
    assert [line.strip() for line in text.splitlines() if "term" in line] == [
        "- term: old # kept",
        "- term: compress+level>=3",
        "- term: everything",
    ]
    assert thread.proposals[0]["title"] == "Accept 2 slow-downs of #7"
    assert thread.answers.count("proposed") == 2


def relabel(thread: Thread, found: Report) -> None:
    """The artifact of the run is another one."""
    thread.github.artifacts.clear()
    thread.github.artifact(RUN, packed(found))


def test_only_people_with_write_permission_are_obeyed(thread: Thread) -> None:
    for who in (
        {"login": "eve", "id": 7},
        {"login": "bob", "id": 8},
        {"login": "nobody", "id": 9},
        {"login": "ann", "id": 99},  # somebody else's name now
        {"login": "ann", "type": "Bot"},
        {"login": "../../../user", "id": 5},
    ):
        for body in ("/suspects rerun", "/suspects accept compress+level>=3", "/suspects nonsense"):
            ended = thread.command(body, user=who | {"author_association": "OWNER"})
            assert ended.ending == "refused", who
            assert thread.reactions == ["confused"]
    assert thread.github.talk.dispatched == [] and not thread.proposals
    assert thread.github.bodies() == [shown()]  # a stranger puts no word into our comment
    assert thread.command("/suspects rerun", user={"login": "root", "id": 6}).ending == "done"


def test_a_ghost_is_not_obeyed(thread: Thread) -> None:
    said = replace(thread.say("/suspects rerun"), author="", author_id=0, human=False)
    thread.said = said
    assert thread.again().ending == "refused" and thread.github.talk.dispatched == []


@pytest.mark.parametrize(
    "body",
    ["Thanks!", "> /suspects rerun\n\nwhat does this do?", "```\n/suspects rerun\n```", "", "x" * 65_000],
)
def test_what_is_not_a_command_costs_no_request(thread: Thread, body: str) -> None:
    assert thread.command(body).ending == "nothing"
    assert thread.github.api.log == [] and thread.reactions == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("/suspects reboot", "not understood"),
        ("/suspects rerun 10m; curl evil | sh", "takes one duration"),
        ("/suspects rerun\n/suspects rerun", "one command a comment"),
        ("/suspects rerun\u200b", "hidden characters"),
        ("/suspects accept compress+level>=3 until 2020-01-01", "2020-01-01 is not in the future"),
        ("/suspects accept `</code>` <!-- @mona", "TERM is levels joined by"),
        ("/suspects accept mangle", "no alarm for `mangle`; it alarms for `compress+level&gt;=3`"),
        ("/suspects rerun " + "1" * 64_000, "at most 500 characters"),
    ],
)
def test_a_command_that_cannot_be_done_is_answered(thread: Thread, body: str, why: str) -> None:
    assert thread.command(body).ending == "refused"
    assert thread.reactions == ["confused"]
    assert why.replace("&gt;", ">") in thread.answers.replace("&gt;", ">"), thread.answers
    assert "<!-- @" not in thread.answers and "@mona" not in thread.answers.replace("&#64;mona", "")
    assert len(thread.answers) < 2500
    assert thread.github.talk.dispatched == [] and not thread.proposals


@pytest.mark.parametrize("command", ["rerun", "accept compress+level>=3"])
def test_a_head_that_nobody_can_have_seen_is_refused(thread: Thread, command: str) -> None:
    other = "c" * 40
    thread.github.run(RUN + 1, head=other, created=LATER)
    assert thread.command(f"/suspects {command}").ending == "refused"  # pushed, not yet told by the API
    thread.github.pull(7, head=other, source=REPOSITORY)
    assert thread.command(f"/suspects {command}").ending == "refused"
    assert "became the head after this was said" in thread.answers
    thread.github.pull(7, head=HEAD, source=REPOSITORY)  # and back: the comment was about the one between
    thread.github.run(RUN + 2, head=HEAD, created=LATER)
    assert thread.command(f"/suspects {command}").ending == "refused"
    assert thread.github.talk.dispatched == [] and not thread.proposals


def test_runs_of_branches_with_the_same_name_say_nothing_of_this_head(thread: Thread) -> None:
    thread.github.run(RUN + 1, head="c" * 40, source=FORK, created=LATER)
    thread.github.run(RUN + 2, head="d" * 40, branch="other", created=LATER)
    thread.github.run(RUN + 3, head="e" * 40, event="push", created=LATER)
    assert thread.command("/suspects rerun").ending == "done"


@pytest.mark.parametrize("renamed", [True, False])
def test_where_no_run_was_started_the_report_tells_which_head_was_seen(thread: Thread, renamed: bool) -> None:
    if renamed:
        thread.github.talk.workflows.discard("suspects.yml")
    thread.github.runs.clear()
    thread.sticky["updated_at"] = LATER
    assert thread.command("/suspects rerun").ending == "refused"
    thread.sticky.update(body=shown("c" * 40), updated_at=PUSHED)
    assert thread.command("/suspects rerun").ending == "refused"
    thread.sticky["body"] = shown()
    assert thread.command("/suspects rerun").ending == "done"


def test_what_no_run_has_begun_for_waits(thread: Thread) -> None:
    thread.github.runs.clear()
    thread.github.comments.clear()
    assert thread.command("/suspects rerun").ending == "refused"
    assert "no run of `suspects.yml` has begun for `aaaaaaaaaaaa` yet" in thread.answers


def test_a_closed_pull_request_is_left_alone(thread: Thread) -> None:
    thread.github.pull(7, head=HEAD, source=REPOSITORY, state="closed")
    for command in ("rerun", "accept compress+level>=3", "bisect a..b"):
        assert thread.command(f"/suspects {command}").ending == "refused"
    assert "this pull request is closed" in thread.answers and thread.github.talk.dispatched == []


def test_forks_are_measured_again_and_their_words_never_reach_the_entry(thread: Thread) -> None:
    thread.github.pull(7, head=HEAD, source=FORK, branch="topic")
    thread.github.run(RUN, head=HEAD, source=FORK, created=PUSHED)
    assert thread.command("/suspects rerun").ending == "done"
    assert thread.github.talk.dispatched == [("suspects-rerun.yml", "main", RERUN)]
    forged = report().suspects.options[0].model_copy(update={"term": ("a", "x\n  by: root")})
    relabel(thread, report(suspects=Suspects(options=(forged,))))
    assert thread.command("/suspects accept a").ending == "refused"
    assert "names something that no option" in thread.answers and not thread.proposals
    thread.github.pull(7, head=HEAD, source=REPOSITORY)
    thread.github.run(RUN, head=HEAD, source=REPOSITORY, created=PUSHED)
    assert thread.command("/suspects accept a").ending == "refused"  # nor those of a branch of ours
    relabel(
        thread,
        report(suspects=Suspects(options=(forged.model_copy(update={"term": ("a",), "metric": "x y"}),))),
    )
    assert thread.command("/suspects accept a").ending == "refused"
    assert not thread.proposals


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda thread: thread.github.comments.clear(), "there is no report on this pull request"),
        (lambda thread: thread.sticky.update(body=shown("c" * 40)), "the report is not of the head"),
        (lambda thread: thread.github.artifacts.clear(), "left no artifact"),
        (lambda thread: relabel(thread, report(mode="nightly")), "no report of a pull request"),
        (lambda thread: relabel(thread, report(verdict="none", suspects=Suspects(), effects=())), "no alarm"),
        (lambda thread: thread.github.git.commit({FILE: "version: 7"}, branch="main"), "main:.github/susp"),
    ],
)
def test_only_what_is_reported_for_the_head_is_accepted(
    thread: Thread, change: Callable[[Thread], None], why: str
) -> None:
    said = thread.say("/suspects accept compress+level>=3")
    change(thread)
    thread.said = replace(said, id=thread.github.say(7, "...")["id"])  # the first may be gone
    assert thread.again().ending == "refused"
    assert why in thread.answers.replace("&#8203;", ""), thread.answers
    assert not thread.proposals


def test_somebody_elses_commits_on_the_branch_are_left_alone(thread: Thread) -> None:
    thread.command("/suspects accept compress+level>=3")
    ours = thread.github.git.branches["suspects/accepted-7"]
    theirs = thread.github.git.commit({FILE: "edited\n"}, parents=[ours], branch="suspects/accepted-7")
    assert thread.command("/suspects accept compress+level>=3").ending == "refused"
    assert thread.github.git.branches["suspects/accepted-7"] == theirs
    assert "somebody else committed to" in thread.answers


def test_where_actions_may_not_open_pull_requests_the_branch_waits_and_the_answer_says_so(
    thread: Thread,
) -> None:
    thread.github.may_open_pulls = False
    with pytest.raises(ForgeError):
        thread.command("/suspects accept compress+level>=3")
    assert "opening a pull request of suspects/accepted-7" in thread.answers
    thread.github.may_open_pulls = True
    assert thread.command("/suspects accept compress+level>=3").ending == "done"
    assert len(thread.proposals) == 1


def test_the_job_started_again_does_nothing_again(thread: Thread) -> None:
    for command in ("rerun", "accept compress+level>=3"):
        thread.command(f"/suspects {command}")
        before = thread.github.bodies(), list(thread.github.talk.dispatched), dict(thread.github.git.branches)
        assert thread.again().ending == "nothing"
        after = thread.github.bodies(), thread.github.talk.dispatched, thread.github.git.branches
        assert before == after
    assert len(thread.github.talk.dispatched) == 1 and len(thread.proposals) == 1


def test_a_comment_that_was_deleted_meanwhile_does_nothing(thread: Thread) -> None:
    thread.said = thread.say("/suspects rerun")
    thread.github.comments[:] = [c for c in thread.github.comments if c["id"] != thread.said.id]
    with pytest.raises(ForgeError):
        thread.again()
    assert thread.github.talk.dispatched == []


def test_a_report_that_comes_later_keeps_the_newest_answers(
    thread: Thread, forge: Callable[..., Any]
) -> None:
    for minutes in range(1, 9):
        thread.command(f"/suspects rerun {minutes}m")
    placed = forge().place(7, "### Newer", Stamp(RUN + 9, 1, HEAD))
    assert placed.placing == "edited"
    (body,) = thread.github.bodies()
    assert body.startswith(shown(run=RUN + 9).replace("### The report", "### Newer"))
    told = [line for line in body.splitlines() if line.startswith("- <!--")]
    assert len(told) == 5 and "rerun 8m" in told[-1] and "rerun 4m" in told[0]
    assert forge().place(7, "### Newer", Stamp(RUN + 9, 1, HEAD)).placing == "unchanged"


def test_where_nothing_was_reported_the_answer_stands_alone_until_something_is(
    thread: Thread, forge: Callable[..., Any]
) -> None:
    thread.github.comments.remove(thread.sticky)
    assert thread.command("/suspects rerun").ending == "done"
    (body,) = thread.github.bodies()
    assert "There is no report on this pull request yet." in body and "being measured again" in body
    assert forge().place(7, "### The first", Stamp(1, 1, HEAD)).placing == "edited"
    (body,) = thread.github.bodies()
    assert "no report" not in body and "being measured again" in body
