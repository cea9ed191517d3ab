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
# glibc has a copy for each kind of processor: a simulated one gets another than a real one.
_PROCESSOR = re.compile(
    r"^_+((?:mem|str|stp|raw|wcs|wmem)[a-z]+)(?:_chk)?_"
    r"(?:sse|ssse|avx|evex|erms|generic|asimd|sve|mte|mops|falkor|thunderx|a64fx|kunpeng)\w*$"
)
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
_RUST_CRATE = re.compile(r"(?<=\w)\[[0-9a-f]+\]")
_GO_CLOSURE = re.compile(r"(?:\.func\d+(?:\.\d+)*|\.(?:gowrap|deferwrap)\d+|-range\d+)+$")
_CLOSURES = ("{lambda", "{{closure}}", "{closure#", "{closure_env", "'lambda")
_NUMBER = re.compile(r"(?<=[)\w])#\d+(?=\})")
_TOKEN = re.compile(
    r"\boperator *(?:\(\)|<=>|<<=?|>>=?|->\*?|<=?|>=?)|\(anonymous namespace\)|->|.", re.DOTALL
)
_QUALIFIERS = re.compile(r"(?: const| volatile| &{1,2})*(?=::)")
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
    if plain == stem:
        text = _GO_CLOSURE.sub("", plain)
        if (copy := _PROCESSOR.match(text)) is not None:
            return Name(copy[1])
        return Name(tidy(text), part or text != plain)
    text = _RUST_HASH.sub("", plain)
    if stem.startswith("_R"):
        text = _RUST_CRATE.sub("", text)
    whole = _whole(_SPACED.sub(">", text))
    # Numbers of lambdas that stand in template arguments change when another one is added.
    return Name(tidy(_NUMBER.sub("", whole.text)), part or whole.part)


def _whole(name: str) -> Name:
    """A demangled name up to its first lambda, without arguments of enclosing functions.

    Lambdas and parentheses inside of template arguments stay.
    """
    if "(" not in name and not any(closure in name for closure in _CLOSURES):
        return Name(name)
    shown: list[str] = []
    depth = place = 0
    while place < len(name):
        if depth == 0 and name.startswith(_CLOSURES, place) and name[:place].endswith("::"):
            return Name("".join(shown).removesuffix("::"), part=True)
        token = _TOKEN.match(name, place)
        assert token is not None  # it matches any character
        text = token[0]
        depth += {"<": 1, ">": -1}.get(text, 0)
        place = token.end()
        if text == "(" and depth == 0:
            place = _end_of_arguments(name, place)
        else:
            shown.append(text)
    return Name("".join(shown))


def _end_of_arguments(name: str, place: int) -> int:
    """Where the parenthesis that was opened before `place` is closed, qualifiers included."""
    depth = 1
    while place < len(name) and depth:
        depth += {"(": 1, ")": -1}.get(name[place], 0)
        place += 1
    after = _QUALIFIERS.match(name, place)
    return place if after is None else after.end()


def tidy(name: str) -> str:
    """A name as one line of bounded length without control and direction characters."""
    shown = name
    if not name.isprintable():
        shown = "".join("\N{REPLACEMENT CHARACTER}" if _hidden(c) else c for c in name)
    if len(shown) <= LONGEST:
        return shown
    return f"{shown[: LONGEST - 18]}…#{hashlib.sha256(name.encode()).hexdigest()[:16]}"


def _hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] == "C" or category in ("Zl", "Zp")
