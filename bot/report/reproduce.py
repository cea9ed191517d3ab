"""The exact shell commands that repeat a configuration's measurement on another machine."""

from __future__ import annotations

import shlex

from bot.model.invocation import Invocation, invocation
from bot.model.report import Reproduction
from bot.model.revisions import Comparison
from bot.model.space import Configuration
from bot.model.subject import Program, Subject

SCRATCH, PORT = "/tmp/suspects-scratch", "20000"  # noqa: S108  in a text for people


def reproduction(subject: Subject, comparison: Comparison, configuration: Configuration) -> Reproduction:
    """Worktrees of base and head, their builds, the workload and one run of each."""
    program = subject.program
    if not isinstance(program, Program):
        return Reproduction(options=subject.space.as_dict(configuration), commands=())
    call = invocation(subject, configuration)
    lines = [
        f"git worktree add --detach ../suspects-base {comparison.base.id}",
        f"git worktree add --detach ../suspects-head {comparison.head.id}",
    ]
    if subject.overlay:
        paths = shlex.join(subject.overlay)
        lines.append(f"(cd ../suspects-base && git checkout {comparison.head.id} -- {paths})")
    if program.setup:
        lines.append(program.setup)
    workload = subject.workloads.get(call.workload or "")
    for side in ("base", "head"):
        folder = f"../suspects-{side}"
        if program.submodules:
            lines.append(f"(cd {folder} && git submodule update --init --recursive)")
        if program.build:
            lines.append(f"(cd {folder} && {program.build})")
        if workload and workload.prepare and side == "base":
            lines.append(f"(cd {folder} && {workload.prepare})")
    path = f"../suspects-base/{workload.path}" if workload else ""
    lines += [
        f"# render {template} into {target} with these options" for target, template in subject.files.items()
    ]
    command = _with_server(call, _command(subject, call, path), path)
    lines += [f"(cd ../suspects-{side} && {command})" for side in ("base", "head")]
    return Reproduction(options=dict(call.values), commands=tuple(lines))


def _with_server(call: Invocation, command: str, path: str) -> str:
    """A server beside its client; at the end the ticks of CPU time (user, system) that the server took."""
    if call.start is None:
        return command
    start, ready = (_placed(text, path) for text in (call.start, call.ready or "sleep 1"))
    return (
        f"({start}) & server=$!; until {ready}; do sleep 0.1; done;"
        f" {command}; cat /proc/$server/stat | cut -d' ' -f14,15; kill $server"
    )


def _placed(text: str, path: str) -> str:
    return text.replace("{workload}", path).replace("{scratch}", SCRATCH).replace("{port}", PORT)


def as_typed(subject: Subject, call: Invocation) -> str:
    """A trial's command in one line, as one would type it; what only a trial knows stays in braces."""
    assert isinstance(subject.program, Program)
    workload = subject.workloads.get(call.workload or "")
    words = [word.replace("{workload}", workload.path if workload else "") for word in call.words]
    return " ".join(map(_quoted, words)) + _source(subject, call, "")


def _quoted(word: str) -> str:
    bare = word.replace("{", "").replace("}", "")
    return word if bare and shlex.quote(bare) == bare else shlex.quote(word)


def _source(subject: Subject, call: Invocation, folder: str) -> str:
    """Where its standard input comes from."""
    assert isinstance(subject.program, Program)
    stdin = (subject.program.stdin or "").replace("{workload}", call.workload or "")
    stdin = subject.workloads[stdin].path if stdin in subject.workloads else stdin
    return f" < {folder}{shlex.quote(stdin)}" if stdin else ""


def _command(subject: Subject, call: Invocation, path: str) -> str:
    assert isinstance(subject.program, Program)
    words = [_placed(word, path) for word in call.words]
    env = " ".join(f"{k}={shlex.quote(v)}" for k, v in call.env.items())
    source = _source(subject, call, "../suspects-base/")
    return f"time {'env ' + env + ' ' if env else ''}{shlex.join(words)}{source} > /dev/null"
