"""What must hold between the keys of a subject file, beyond the type of each."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TypeAlias

from bot.model.subject import (
    WORKLOAD,
    CallableProgram,
    ChoiceOption,
    FlagOption,
    Metric,
    NumberOption,
    OnOff,
    Program,
    Subject,
)

Problem: TypeAlias = tuple[tuple[str | int, ...], str]
"""The key path in the file, and what is wrong with it and what is allowed."""

METRICS = ("cpu", "wall", "max_rss", "instructions")
"""Metrics every run can give."""
RESERVED = frozenset({"and", "or", "not", "xor", "iff", "implies", "true", "false", "everything"})
"""Words of constraints and of comment commands: no option can have such a name."""
STDIN_WORKLOAD = "{workload}"
_REF = re.compile(r"(?!.*(?:\.\.|//|\.lock$|/$|\.$))[A-Za-z0-9_][A-Za-z0-9_./-]*")
_ADDRESSES = ("s3://", "gs://", "gcs://")


def problems(subject: Subject) -> Iterator[Problem]:
    """Everything wrong between the keys, in no particular order; the model has checked each key alone."""
    if not subject.space.options:
        yield (("options",), "there is nothing to compare; name at least one option (or two workloads)")
    for name, option in subject.options.items():
        path = ("options", name)
        if name in RESERVED or (name == WORKLOAD and len(subject.workloads) > 1):
            yield path, f"{name} is a reserved word; choose another name"
        for part, message in _option_problems(option):
            yield (*path, part), message
    if isinstance(subject.program, Program):
        yield from _program_problems(subject, subject.program)
        yield from _rendering_problems(subject)
        yield from _workload_problems(subject, subject.program)
        yield from _metric_problems(subject)
    else:
        yield from _offline_problems(subject)
    yield from _file_problems(subject)
    yield from _history_problems(subject)


def _option_problems(option: FlagOption | ChoiceOption | NumberOption) -> Iterator[tuple[str, str]]:
    match option:
        case ChoiceOption():
            if option.default is not None and option.default not in option.choice:
                yield "default", f"{option.default} is no choice; allowed: {', '.join(option.choice)}"
        case NumberOption():
            if len(set(option.number)) < len(option.number):
                yield "number", "a value stands twice; list each value once"
            values = ", ".join(map(str, sorted(option.number)))
            if option.default is not None and option.default not in option.number:
                yield "default", f"{option.default} is not among the values; allowed: {values}"
            if option.flag is not None and "{value}" not in option.flag:
                yield "flag", "has no {value}, so every value gives the same command; put {value} into it"
        case FlagOption():
            pass
    if option.env is None:
        key = "choice" if isinstance(option, ChoiceOption) else "flag"
        for text in _texts(option):
            if _unsplittable(text):
                yield key, f"{text!r} cannot be split into words; close its quotation mark"


def _texts(option: FlagOption | ChoiceOption | NumberOption) -> tuple[str, ...]:
    match option:
        case FlagOption(flag=OnOff() as flag):
            return flag.on, flag.off
        case FlagOption(flag=str() as text):
            return (text,)
        case ChoiceOption():
            return tuple(option.choice.values())
        case NumberOption():
            return (option.flag or "",)
    raise AssertionError(option)


def _unsplittable(text: str) -> bool:
    try:
        shlex.split(text)
    except ValueError:
        return True
    return False


def _program_problems(subject: Subject, program: Program) -> Iterator[Problem]:
    path = ("program", "run")
    if _unsplittable(program.run):
        yield path, "cannot be split into words; close its quotation mark"
    elif not shlex.split(program.run):
        yield path, "is empty; a command is needed"
    rendered = [n for n, o in subject.options.items() if o.env is None and any(_texts(o))]
    start = ""
    if program.server is not None:
        start = program.server.start
        yield from _server_problems(subject, program, start)
    if rendered and "{options}" not in program.run + start:
        yield (
            path,
            f"has no {{options}}, so {rendered[0]} would never reach the program; put {{options}} into it",
        )


def _server_problems(subject: Subject, program: Program, start: str) -> Iterator[Problem]:
    if "{port}" not in start:
        yield ("program", "server", "start"), "has no {port}; each trial has its own, put {port} into it"
    if "{port}" not in program.run:
        yield ("program", "run"), "is the server's client and has no {port}; put {port} into it"
    for i, metric in enumerate(subject.metrics):
        if metric.name == "instructions":
            yield ("metrics", i), "instructions are not counted of servers; remove it"


def _rendering_problems(subject: Subject) -> Iterator[Problem]:
    """Options that can change nothing, and two options that write the same variable."""
    owner: dict[str, str] = {}
    for name, option in subject.options.items():
        path = ("options", name)
        silent = not any(_texts(option)) and not (isinstance(option, NumberOption) and option.env)
        if silent and not subject.files:
            key = "env" if isinstance(option, NumberOption) else "an argument, env"
            yield (
                path,
                f"changes neither arguments nor environment; give it a flag ({key}) or use it in `files`",
            )
        if option.env is not None:
            if option.env in owner:
                yield (
                    (*path, "env"),
                    f"{option.env} is already set by {owner[option.env]}; use another variable",
                )
            owner[option.env] = name


def _workload_problems(subject: Subject, program: Program) -> Iterator[Problem]:
    in_run = "{workload}" in program.run or any(
        "{workload}" in t for o in subject.options.values() for t in _texts(o)
    )
    if in_run and not subject.workloads:
        yield ("program", "run"), "uses {workload}, but there are no workloads; add `workloads`"
    if program.stdin is not None:
        names = [*subject.workloads, *(w.path for w in subject.workloads.values())]
        if program.stdin not in [*names, *([STDIN_WORKLOAD] if subject.workloads else [])]:
            allowed = (
                ", ".join([STDIN_WORKLOAD, *subject.workloads]) if subject.workloads else "none are defined"
            )
            yield ("program", "stdin"), f"{program.stdin} is no workload; allowed: {allowed}"
    if len(subject.workloads) > 1 and not in_run and program.stdin != STDIN_WORKLOAD:
        yield (
            ("workloads",),
            "several, but the program sees only one; put {workload} into program.run or program.stdin",
        )


def _metric_problems(subject: Subject) -> Iterator[Problem]:
    for i, metric in enumerate(subject.metrics):
        path = ("metrics", i)
        if metric.name in [m.name for m in subject.metrics[:i]]:
            yield path, f"{metric.name} stands twice; list each metric once"
        elif metric.regex is None and metric.name not in METRICS:
            yield (
                path,
                f"{metric.name} is not a known metric; allowed: {', '.join(METRICS)}, or one with a regex",
            )
        elif metric.regex is not None:
            yield from (((*path, metric.name, "regex"), message) for message in _regex_problems(metric))


def _regex_problems(metric: Metric) -> Iterator[str]:
    if metric.name in METRICS:
        yield f"{metric.name} is measured, not read from output; give the metric another name"
    try:
        groups = re.compile(metric.regex or "").groups
    except (re.error, RecursionError, OverflowError) as error:
        yield f"is no regular expression ({error}); Python's syntax is needed"
        return
    if groups != 1:
        yield f"has {groups} groups; exactly one (...) is needed around the number"


def _offline_problems(subject: Subject) -> Iterator[Problem]:
    kind = "callable" if isinstance(subject.program, CallableProgram) else "table"
    for key in ("workloads", "files", "overlay"):
        if getattr(subject, key):
            yield (key,), f"does not go with a {kind} program, which runs nothing; remove it"
    if kind == "callable":
        for name, option in subject.options.items():
            if not isinstance(option, FlagOption):
                yield ("options", name), "a callable program has flags only; use {flag: ...}"


def _file_problems(subject: Subject) -> Iterator[Problem]:
    paths: list[tuple[tuple[str | int, ...], str]] = [
        (("workloads", n, "path"), w.path) for n, w in subject.workloads.items()
    ]
    for target, template in subject.files.items():
        paths += [(("files", target), target), (("files", target), template)]
    paths += [(("overlay", i), path) for i, path in enumerate(subject.overlay)]
    if isinstance(subject.program, Program):
        for i, kept in enumerate(subject.program.cache):
            paths.append((("program", "cache", i), kept.removeprefix("~/")))
        for i, folder in enumerate(subject.program.writable):
            parts = PurePosixPath(folder).parts
            if parts[0] != "/" or ".." in parts or len(parts) == 1:
                yield ("program", "writable", i), f"{folder} is no absolute path of a folder, as /tmp is"
    for place, text in paths:
        path = PurePosixPath(text)
        if path.is_absolute() or ".." in path.parts or text.startswith("~"):
            yield place, f"{text} lies outside the checkout; a relative path without .. is needed"


def _history_problems(subject: Subject) -> Iterator[Problem]:
    """Places that lack what they need, or have what they cannot use."""
    keys = {"branch": "ref", "artifact": "ref", "directory": "path", "object": "url"}
    for i, place in enumerate(subject.history):
        for key in ("ref", "path", "url"):
            if getattr(place, key) is not None and key != keys[place.store]:
                yield ("history", i, key), f"does not go with {place.store}; it takes {keys[place.store]}"
        if place.ref is not None and not _REF.fullmatch(place.ref):
            yield ("history", i, "ref"), f"{place.ref!r} is no name of a branch; suspects-history is one"
        if place.store == "object" and not (place.url or "").startswith(_ADDRESSES):
            yield (
                ("history", i, "url"),
                "an address such as s3://bucket/folder or gs://bucket/folder is needed",
            )
