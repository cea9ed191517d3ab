"""The bare interpreter that a program runs on, with the program's own flags: what its start-up costs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from bot.adapters.profilers.python.command_lines import begins, found_on_path, python_start
from bot.model.profiles import Target


@dataclass(frozen=True)
class Nothing:
    """words: a program that does nothing; named_by: flags after which a command names its program."""

    words: tuple[str, ...]
    named_by: frozenset[str]


MOST_LINKS = 4
"""Scripts that name scripts as their interpreters."""
_SHELL = Nothing(("-c", ":"), frozenset({"-c"}))
_SCRIPT = Nothing(("-e", "0"), frozenset({"-e", "-E", "-p", "-c"}))
NOTHING: Mapping[str, Nothing] = {
    "node": Nothing(("-e", "0"), frozenset({"-e", "--eval", "-p", "--print"})),
    "java": Nothing(("-version",), frozenset({"-jar", "-m", "--module"})),
    **dict.fromkeys(("sh", "bash", "dash"), _SHELL),
    **dict.fromkeys(("perl", "ruby"), _SCRIPT),
}
"""How interpreters are told to do nothing."""
_WITH_VALUE = frozenset(
    {"-r", "--require", "--import", "--loader", "-C", "--conditions", "-I", "-o", "-O"}
    | {"-cp", "-classpath", "--class-path", "-p", "--module-path"}
    | {"--add-modules", "--add-opens", "--add-exports"}
)


def bare(target: Target) -> tuple[str, ...] | None:
    """The command of the interpreter alone; None: the program is no script, or its interpreter not known.

    Interpreters are found by the first word, or by the first lines of scripts. Flags that name the program
    (`-jar`, a module) are left out, the others kept.
    """
    python = python_start(target)
    if python is not None:
        return (python.interpreter, *python.options, "-c", "pass")
    words = list(target.words)
    for _ in range(MOST_LINKS):
        name = re.sub(r"(?<=node)js$|[-.\d]+$", "", PurePath(words[0]).name)
        if (nothing := NOTHING.get(name)) is not None:
            return (words[0], *_flags(words[1:], nothing.named_by), *nothing.words)
        path = found_on_path(words[0], target)
        line = begins(path, target) if path is not None else None
        if line is None:
            return None
        words = [*line, words[0]]
        if PurePath(words[0]).name == "env":
            words = words[2:] if words[1] == "-S" else words[1:]
    return None


def _flags(words: Sequence[str], named_by: Collection[str]) -> list[str]:
    """The interpreter's own flags: up to the first word that is none, or names the program."""
    flags: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and len(rest[0]) > 1:
        word = rest.pop(0)
        if word in named_by or word == "--":
            break
        flags.append(word)
        if word in _WITH_VALUE and rest:
            flags.append(rest.pop(0))
    return flags
