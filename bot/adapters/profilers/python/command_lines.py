"""Reads how a command starts Python: which interpreter, which of its options, which program."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bot.adapters.profilers.evidence import readable_by, told
from bot.model.profiles import Target

Kind: TypeAlias = Literal["m", "c", "script", "stdin"]

_INTERPRETER = re.compile(r"^(?:python|pypy)(?:\d(?:\.\d+)?)?(?:[td]|dbg)?$")
_WITH_VALUE = frozenset("WX")
_DEAF = frozenset("SEI")
"""-S: no site, so no sitecustomize. -E: no PYTHONPATH. -I: neither."""
_MOST_LINKS = 4


@dataclass(frozen=True)
class PythonStart:
    """A command that starts Python: interpreter, options, a module, code or script, and its arguments."""

    interpreter: str
    options: tuple[str, ...]
    kind: Kind
    operand: str
    arguments: tuple[str, ...]

    @property
    def deaf(self) -> bool:
        """Whether the interpreter is told to ignore what the environment would have it load."""
        clusters = (o[1:] for o in self.options if re.match(r"^-[A-Za-z]", o) and o[1] not in _WITH_VALUE)
        return any(_DEAF & set(cluster) for cluster in clusters)

    def started_by(self, launcher: str) -> tuple[str, ...]:
        """The same start through a script that gets what is to be started as its arguments."""
        return (self.interpreter, *self.options, launcher, self.kind, self.operand, *self.arguments)


def python_start(target: Target) -> PythonStart | None:
    """How the target's command starts Python, itself or by a script's first line; None: not, or hidden."""
    words = list(target.words)
    for _ in range(_MOST_LINKS):
        found = found_on_path(words[0], target)
        if found is None:
            return None
        if _INTERPRETER.match(os.path.basename(words[0])):  # noqa: PTH119
            return _parsed(words[0] if "/" in words[0] else found, words[1:])
        line = begins(found, target)
        if line is None:
            return None
        words = [*line, found if "/" not in words[0] else words[0], *words[1:]]
        if os.path.basename(words[0]) == "env":  # noqa: PTH119
            words = words[1:]
            if words and words[0] == "-S":
                words = words[1:]
    return None


def found_on_path(name: str, target: Target) -> str | None:
    """The file that is executed; relative to the working directory of the trial."""
    path = target.env.get("PATH", os.defpath)
    candidates = [name] if "/" in name else [f"{folder or '.'}/{name}" for folder in path.split(":")]
    for candidate in candidates:
        place = os.path.join(target.cwd, candidate)  # noqa: PTH118
        if os.access(place, os.X_OK) and not os.path.isdir(place):  # noqa: PTH112
            return place
    return None


def first_line(path: str) -> list[str] | None:
    """A reader: the interpreter of a script, split at blanks (as `env -S` does); None: no script."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            start = file.read(256).partition(b"\n")[0]
    except OSError:
        return None
    words = start[2:].decode("utf-8", "replace").split() if start.startswith(b"#!") else []
    return words or None


def begins(path: str, target: Target) -> list[str] | None:
    """The interpreter of a script that the target may read; None: no script."""
    try:
        return told(target, first_line, path, files=readable_by(target))
    except OSError:
        return None


def _parsed(interpreter: str, words: Sequence[str]) -> PythonStart:
    """Splits the interpreter's own options from the program (`python -h` lists them)."""
    options: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word.startswith("--"):
            options.append(word)
            if word == "--check-hash-based-pycs" and rest:
                options.append(rest.pop(0))
            continue
        for place, letter in enumerate(word[1:], 1):
            if letter in "mc":
                if place > 1:
                    options.append(word[:place])
                operand = word[place + 1 :] or (rest.pop(0) if rest else "")
                return PythonStart(interpreter, tuple(options), letter, operand, tuple(rest))  # type: ignore[arg-type]
            if letter in _WITH_VALUE:
                options.append(word)
                if place == len(word) - 1 and rest:
                    options.append(rest.pop(0))
                break
        else:
            options.append(word)
    if not rest or rest[0] == "-":
        return PythonStart(interpreter, tuple(options), "stdin", "-", tuple(rest[1:]))
    return PythonStart(interpreter, tuple(options), "script", rest[0], tuple(rest[1:]))
