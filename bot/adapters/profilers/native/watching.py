"""Finds the functions of a checkout's programs and libraries that a tracer shall watch."""

from __future__ import annotations

import os
import re
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.profilers.evidence import open_file, told
from bot.adapters.profilers.native.functions import Functions
from bot.adapters.profilers.native.objects import LARGEST
from bot.adapters.profilers.native.sampling import program_of
from bot.model.profiles import Method, Target

MOST_ENTRIES = 100_000
"""Files of a checkout that are looked at."""
MOST_OBJECTS = 300

_LINKED = (2, 3)  # ET_EXEC, ET_DYN


@dataclass(frozen=True)
class Watch:
    """Symbols to watch by object file; methods that no file has."""

    symbols: Mapping[str, Sequence[str]]
    absent: Sequence[Method] = ()


def find(functions: Functions, target: Target, methods: Iterable[Method]) -> Watch:
    """Looks in the program itself and in all programs and libraries of the checkout."""
    return find_in(functions, _objects(target), methods)


def find_in(functions: Functions, paths: Iterable[str], methods: Iterable[Method]) -> Watch:
    """Looks in these object files."""
    wanted: dict[str, list[Method]] = defaultdict(list)
    for method in methods:
        wanted[method.name].append(method)
    symbols: dict[str, list[str]] = {}
    found: set[str] = set()
    for path in paths:
        named = functions.named(path)
        here = [symbol for name in wanted for symbol in named.get(name, ())]
        if here:
            symbols[path] = here
            found.update(name for name in wanted if name in named)
    absent = [method for name, several in wanted.items() if name not in found for method in several]
    return Watch(symbols, absent)


def pattern(path: str, symbol: str) -> str:
    """A symbol of an object file as uftrace wants it: an extended regular expression, and the file's name."""
    return f"{spelled(symbol)}@{path.rpartition('/')[2]}"


def spelled(symbol: str) -> str:
    """An extended regular expression that fits this symbol alone."""
    return "^" + re.sub(r"([^A-Za-z0-9_])", r"[\1]", symbol) + "$"


def _objects(target: Target) -> list[str]:
    program = os.path.realpath(program_of(target))
    with suppress(OSError):
        read = told(target, linked_in, target.root, files=[target.root])
        return [program, *(path for path in read if path != program)]
    return [program]


def linked_in(root: Path) -> list[str]:
    """A reader: programs and shared libraries of a checkout."""
    found: list[str] = []
    count = 0
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            count += 1
            if count > MOST_ENTRIES:
                return found
            path = Path(folder, name)
            if str(path).isprintable() and _is_linked(path):  # other names cannot be told, nor given to tools
                found.append(str(path))
    return found


def _is_linked(path: Path) -> bool:
    """Whether it is a program or a shared library (ELF)."""
    try:
        with open_file(path, most=LARGEST) as file:
            head = file.read(18)
    except OSError:
        return False
    return len(head) == 18 and head[:4] == b"\x7fELF" and struct.unpack_from("<H", head, 16)[0] in _LINKED
