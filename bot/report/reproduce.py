"""The exact shell commands that repeat a configuration's measurement on another machine."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath

from bot.model.invocation import Invocation, invocation
from bot.model.report import Report, Reproduction
from bot.model.revisions import Comparison
from bot.model.space import Configuration, Space, Value
from bot.model.subject import Program, Subject

SCRATCH, PORT = "/tmp/suspects-scratch", "20000"  # noqa: S108  in a text for people
MOST_BROKEN = 2

RENDER = """\
render() { python3 -c '
import json, pathlib, sys, jinja2  # pip install jinja2
values, *templates = sys.argv[1:]
text = next(p for p in map(pathlib.Path, templates) if p.is_file()).read_text()
made = jinja2.Template(text, keep_trailing_newline=True)
print(made.render(json.loads(values), options=json.loads(values)), end="")
' "$@"; }"""
"""As trials' files are made, by what a reader can have; a template comes from a checkout, not from us."""


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
    source, laid = comparison.inputs or comparison.head.id, comparison.laid or subject.overlay
    sides = {"base": comparison.base.id, "head": comparison.head.id} if laid else {}
    other = [side for side, own in sides.items() if own != source]
    lines += [f"(cd ../suspects-{side} && git checkout {source} -- {shlex.join(laid)})" for side in other]
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
    lines += _rendered(subject.files, call.values)
    command = _with_server(call, _command(subject, call, path), path)
    lines += [f"(cd ../suspects-{side} && {command})" for side in ("base", "head")]
    return Reproduction(options=dict(call.values), commands=tuple(lines))


def repeated(report: Report, space: Space) -> list[Configuration]:
    """Two configurations in which head fails where base works, then those that moved."""
    broken = report.broken_at_head[:MOST_BROKEN]
    moved = [c for c in report.configurations if c.state in ("slower", "faster")]
    return list(dict.fromkeys(tuple(c.options[n] for n in space.names) for c in (*broken, *moved)))


def _rendered(files: Mapping[str, str], values: Mapping[str, Value]) -> list[str]:
    """Configuration files: base's template where there is one, as in trials, for both sides."""
    if not files:
        return []
    lines = [RENDER, f"values={shlex.quote(json.dumps(dict(values), ensure_ascii=False))}"]
    for target, template in files.items():
        templates = shlex.join([f"../suspects-base/{template}", f"../suspects-head/{template}"])
        folder, place = shlex.quote(str(PurePosixPath(target).parent)), shlex.quote(target)
        made = f'mkdir -p {folder} && render "$values" {templates} > {place}'
        lines += [f"(cd ../suspects-{side} && {made})" for side in ("base", "head")]
    return lines


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
