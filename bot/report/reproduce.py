"""The exact shell commands that repeat a configuration's measurement on another machine."""

from __future__ import annotations

import shlex

from bot.model.invocation import Invocation, invocation
from bot.model.report import Reproduction
from bot.model.revisions import Comparison
from bot.model.space import Configuration
from bot.model.subject import Program, Subject


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
    if program.setup:
        lines.append(program.setup)
    workload = subject.workloads.get(call.workload or "")
    for side in ("base", "head"):
        folder = f"../suspects-{side}"
        if program.build:
            lines.append(f"(cd {folder} && {program.build})")
        if workload and workload.prepare and side == "base":
            lines.append(f"(cd {folder} && {workload.prepare})")
    path = f"../suspects-base/{workload.path}" if workload else ""
    lines += [
        f"# render {template} into {target} with these options" for target, template in subject.files.items()
    ]
    lines += [f"(cd ../suspects-{side} && {_command(subject, call, path)})" for side in ("base", "head")]
    return Reproduction(options=dict(call.values), commands=tuple(lines))


def _command(subject: Subject, call: Invocation, path: str) -> str:
    assert isinstance(subject.program, Program)
    words = [w.replace("{workload}", path).replace("{scratch}", "/tmp/suspects-scratch") for w in call.words]  # noqa: S108 - a text for people
    env = " ".join(f"{k}={shlex.quote(v)}" for k, v in call.env.items())
    stdin = (subject.program.stdin or "").replace("{workload}", call.workload or "")
    stdin = subject.workloads[stdin].path if stdin in subject.workloads else stdin
    source = f" < ../suspects-base/{shlex.quote(stdin)}" if stdin else ""
    return f"time {'env ' + env + ' ' if env else ''}{shlex.join(words)}{source} > /dev/null"
