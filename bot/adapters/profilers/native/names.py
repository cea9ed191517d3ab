"""Names of functions from symbols: demangled, without what changes from build to build."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

LONGEST = 400
"""Characters; templates can have names of megabytes. What is cut off is replaced by its hash."""
LONGEST_SYMBOL = 2048
"""Longer ones are not demangled."""

# Copies that compilers make of a function (gcc, clang), and what an object file adds to a name.
_CLONE = re.compile(
    r"(?:\.(?:part|isra|constprop|cold|lto_priv|localalias|llvm|specialized|resume|destroy|cleanup|actor)"
    r"(?:\.\d+)*)+$"
)
_PART = re.compile(r"\.(?:part|cold|resume|destroy|cleanup|actor)\b")
_VERSION = re.compile(r"@{1,2}[\w.]+$")
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
_RUST_CRATE = re.compile(r"(?<=\w)\[[0-9a-f]+\]")
_GO_CLOSURE = re.compile(r"(?:\.func\d+(?:\.\d+)*|\.(?:gowrap|deferwrap)\d+|-range\d+)+$")
_CLOSURES = ("{lambda", "{{closure}}", "{closure#", "{closure_env", "'lambda")
_NUMBER = re.compile(r"(?<=[}\w])#\d+")
_SPACED = re.compile(r"> (?=>)")

Demangle = Callable[[Sequence[str]], Sequence[str]]


class Name(NamedTuple):
    """A function's name; `part`: only a piece of it (cold code, a lambda), whose calls are not its calls."""

    text: str
    part: bool = False


def readable(symbols: Iterable[str], demangle: Demangle) -> Mapping[str, Name]:
    """Symbol -> the name of the method it belongs to, without arguments.

    Clones, hashes and lambdas fold into their function. `demangle`: mangled symbols to names without
    arguments, as many; a symbol that it cannot read comes back as it is.
    """
    bares = {symbol: bare(symbol) for symbol in symbols}
    mangled = sorted({b for b in bares.values() if b.startswith(("_Z", "_R")) and len(b) <= LONGEST_SYMBOL})
    plain = dict(zip(mangled, demangle(mangled), strict=True)) if mangled else {}
    return {symbol: _named(symbol, b, plain.get(b, b)) for symbol, b in bares.items()}


def bare(symbol: str) -> str:
    """A symbol without what copies of a function, and versions of a library, add to it."""
    return _CLONE.sub("", _VERSION.sub("", symbol))


def _named(symbol: str, stem: str, plain: str) -> Name:
    part = _PART.search(symbol[len(stem) :]) is not None
    text = plain
    if plain != stem:
        text = _RUST_HASH.sub("", text)
        if stem.startswith("_R"):
            text = _RUST_CRATE.sub("", text)
        text = _SPACED.sub(">", text)
    whole = _GO_CLOSURE.sub("", _without_closure(text))
    # Numbers of lambdas that stand in template arguments change when another one is added.
    return Name(tidy(_NUMBER.sub("", whole)), part or whole != text)


def _without_closure(name: str) -> str:
    """Cut at the first component that is a lambda; those inside of template arguments stay."""
    depth = 0
    for place, character in enumerate(name):
        if character in "<(":
            depth += 1
        elif character in ">)":
            depth -= 1
        elif depth == 0 and name[:place].endswith("::") and name.startswith(_CLOSURES, place):
            return name[: place - 2]
    return name


def tidy(name: str) -> str:
    """A name as one line of bounded length without control and direction characters."""
    shown = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c)[0] == "C" else c for c in name)
    if len(shown) <= LONGEST:
        return shown
    return f"{shown[: LONGEST - 18]}…#{hashlib.sha256(name.encode()).hexdigest()[:16]}"
