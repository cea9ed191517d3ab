"""How a configuration becomes a command line, an environment and rendered files."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from bot.model.space import Configuration, Value, value_text
from bot.model.subject import (
    WORKLOAD,
    ChoiceOption,
    FlagOption,
    NumberOption,
    OnOff,
    Program,
    Subject,
    SubjectOption,
)


@dataclass(frozen=True)
class Invocation:
    """One trial: words (`{workload}`, `{scratch}`, `{port}` still in them), environment, values, workload.

    workload: its name. start and ready: shell commands of a server, as the words; None: there is none.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    values: Mapping[str, Value]
    workload: str | None
    start: str | None = None
    ready: str | None = None


def invocation(subject: Subject, configuration: Configuration) -> Invocation:
    """The command for a configuration; `run` and flag values are split as by shlex, without a shell."""
    assert isinstance(subject.program, Program)
    values = subject.space.as_dict(configuration)
    arguments: list[str] = []
    env = dict(subject.program.env)
    for name, option in subject.options.items():
        text = _text(option, values[name])
        if option.env is None:
            arguments += shlex.split(text)
        elif text:
            env[option.env] = text
    words: list[str] = []
    for word in shlex.split(subject.program.run):
        if word == "{options}":
            words += arguments
        else:
            words.append(word.replace("{options}", shlex.join(arguments)))
    workload = str(values[WORKLOAD]) if WORKLOAD in values else next(iter(subject.workloads), None)
    server = subject.program.server
    start, ready = (server.start, server.ready) if server is not None else (None, None)
    told = (text and text.replace("{options}", shlex.join(arguments)) for text in (start, ready))
    return Invocation(tuple(words), env, values, workload, *told)


def _text(option: SubjectOption, value: Value) -> str:
    match option:
        case FlagOption():
            flag = option.flag if isinstance(option.flag, OnOff) else OnOff(on=option.flag)
            return flag.on if value else flag.off
        case ChoiceOption():
            return option.choice[str(value)]
        case NumberOption():
            if option.flag is None:
                return value_text(value) if option.env else ""  # neither: only rendered files see it
            return option.flag.replace("{value}", value_text(value))
