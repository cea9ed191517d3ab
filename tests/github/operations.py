"""What we ask of GitHub, one entry for each thing that is said or read, to be tried with every fault."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from bot.adapters.github.artifacts import GithubArtifacts, Insistence
from bot.adapters.github.checks import GithubChecks
from bot.adapters.github.forge import Patience
from bot.adapters.github.issues import GithubIssues
from bot.adapters.github.proposals import GithubProposals
from bot.flows.publish import publish
from bot.model.forge import Annotation, Check, FileChange, Stamp
from bot.model.report import RevisionRef
from bot.report.render import comment
from tests.github.fake import REPOSITORY, WORKFLOW, FakeGithub, Token
from tests.github.reports import HEAD, packed, report
from tests.github.test_forks import CONFIG, OPTIONS
from tests.github.test_publish import FORK, RUN, TRUSTED

ALL = Token(
    permissions={
        "actions": "write",
        "checks": "write",
        "contents": "write",
        "issues": "write",
        "pull-requests": "write",
    }
)
FIRST, SECOND = Stamp(100, 1, HEAD), Stamp(200, 1, HEAD)
MARKER = "<!-- suspects night"
OURS = "github-actions[bot]"
PATH = ".github/suspects.assertions.yml"


@dataclass
class Ports:
    """Our side, as one step of a job has it: made anew for each try.

    timeout: short only where no answer is to come; a busy machine may take its time for the others.
    """

    github: FakeGithub
    timeout: int = 10
    waited: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        pause = self.waited.append
        patience = Patience(tries=3, timeout=self.timeout, backoff=0, secondary_wait=0, pause=pause)
        more: dict[str, Any] = {"api_url": self.github.api.url, "patience": patience}
        self.forge = GithubChecks(REPOSITORY, WORKFLOW, **more)
        self.issues = GithubIssues(REPOSITORY, WORKFLOW, **more)
        self.proposals = GithubProposals(REPOSITORY, WORKFLOW, **more)
        self._opened = ExitStack()

    @cached_property
    def artifacts(self) -> GithubArtifacts:
        """Only where it is used: its certificates take longer to load than all else."""
        insistence = Insistence(tries=3, timeout=self.timeout, pause=self.waited.append)
        url = self.github.api.url
        return self._opened.enter_context(
            GithubArtifacts(REPOSITORY, WORKFLOW, api_url=url, insistence=insistence)
        )

    def __enter__(self) -> Ports:
        for one in (self.forge, self.issues, self.proposals):
            self._opened.enter_context(one)
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


@dataclass(frozen=True)
class Operation:
    """arrange: what is there before; act: what a job does, and a rerun again; state: what is there after."""

    arrange: Callable[[FakeGithub], None]
    act: Callable[[Ports], object]
    state: Callable[[FakeGithub], object]


def said(github: FakeGithub) -> object:
    """All that we said, without what differs from run to run."""
    return (
        github.bodies(),
        github.checks.told(),
        [(one["title"], one["body"], one["state"]) for one in github.issues],
        [
            (number, pull["state"], pull.get("title"), pull.get("body"))
            for number, pull in github.pulls.items()
        ],
        {name: sorted(github.git.files(sha).items()) for name, sha in github.git.branches.items()},
    )


def _pull(github: FakeGithub) -> None:
    github.pull(7, head=HEAD)


def _commented(github: FakeGithub) -> None:
    _pull(github)
    for run in (1, 2):
        github.say(7, f"<!-- suspects pull-request run={run} attempt=1 head=x -->\nold", login=OURS)
    for number in range(120):
        github.say(7, f"remark {number}")


def check(count: int, title: str) -> Check:
    """A check with so many annotations."""
    lines = tuple(Annotation("a.py", n + 1, "warning", "f is slower", f"{n} ms") for n in range(count))
    return Check("Suspects", "failure", title, "Slower.", lines)


def _measured(github: FakeGithub) -> None:
    base = github.git.commit({".github/suspects.yml": CONFIG})
    github.pull(7, head=HEAD, base=base, source=FORK)
    github.pull(8, head=HEAD, base=base, source=FORK)
    github.run(RUN, head=HEAD, source=FORK)
    github.artifact(RUN, packed(_report(base)))


def _report(base: str) -> Any:
    one = report()
    change = one.configurations[0].model_copy(update={"options": OPTIONS})
    method = one.suspects.methods[0].model_copy(update={"options": OPTIONS})
    return report(
        base=RevisionRef(revision=base, label="main"),
        configurations=(change,),
        suspects=one.suspects.model_copy(update={"methods": (method,)}),
        profiles=(),
    )


def _published(ports: Ports) -> object:
    return publish(
        ports.forge,
        ports.artifacts,
        repository=REPOSITORY,
        run_id=RUN,
        render=comment,
        trusted=replace(TRUSTED, address="https://github.com/octo/tools"),
    ).placed


def _issue(ports: Ports) -> object:
    """As a night does: an issue that stands is not opened again."""
    if ports.issues.ours(MARKER):
        return None
    return ports.issues.open_issue("Slower with zstd", f"{MARKER} term=zstd -->\nSlower.")


def _main(github: FakeGithub) -> None:
    github.git.commit({"program.py": "work()\n"}, branch="main")


def _proposed(text: str) -> Callable[[Ports], object]:
    def act(ports: Ports) -> object:
        tip = ports.github.git.branches["main"]
        change = FileChange(PATH, "before", text, tip, f"Assertions: {text.strip()}", "One is new.")
        return ports.proposals.propose(change, ports.proposals.standing())

    return act


def _proposed_before(github: FakeGithub) -> None:
    _main(github)
    with Ports(github) as ports:
        _proposed("version: 1\n")(ports)


def _withdrawn(ports: Ports) -> object:
    standing = ports.proposals.standing()
    if standing.commit is not None:
        ports.proposals.withdraw(standing, "It is of no use any more.")
    return None


def _stored(github: FakeGithub) -> None:
    github.run(900, head=HEAD, event="schedule", branch="main")
    github.artifact(900, b"PK or so", name="suspects-history")


def _read(ports: Ports) -> object:
    branch = ports.artifacts.default_branch()
    found = [one for one in ports.artifacts.named("suspects-history") if one.comes_from(branch)]
    return ports.artifacts.archive(found[0].id)


def _checked(github: FakeGithub) -> None:
    _pull(github)
    with Ports(github) as ports:
        ports.forge.check(check(10, "Not clear"), FIRST)


OPERATIONS: Mapping[str, Operation] = {
    "a first comment": Operation(_pull, lambda ports: ports.forge.place(7, "Slower.", SECOND), said),
    "a comment brought up to date, its double removed": Operation(
        _commented, lambda ports: ports.forge.place(7, "Slower.", SECOND), said
    ),
    "a check run with 120 annotations": Operation(
        _pull, lambda ports: ports.forge.check(check(120, "Slower"), FIRST), said
    ),
    "a check run brought up to date": Operation(
        _checked, lambda ports: ports.forge.check(check(70, "Slower"), FIRST), said
    ),
    "a fork's report published": Operation(_measured, _published, said),
    "an issue opened": Operation(_main, _issue, said),
    "a change proposed": Operation(_main, _proposed("version: 1\n"), said),
    "a proposal brought up to date": Operation(_proposed_before, _proposed("version: 2\n"), said),
    "a proposal withdrawn": Operation(_proposed_before, _withdrawn, said),
    "the history read": Operation(_stored, _read, said),
}
