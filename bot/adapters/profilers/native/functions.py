"""Methods of a native program from object files and symbols: names, source files and lines."""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bot.adapters.processes.process import PATH
from bot.adapters.profilers.evidence import lines
from bot.adapters.profilers.launching import ask
from bot.adapters.profilers.native.names import Name, bare, readable, tidy
from bot.adapters.profilers.native.objects import NOTHING, ObjectFile, object_of
from bot.model.profiles import Method, Target

NAMELESS_SHARE = 0.05
"""Less code without a name is not worth a note. Arbitrary."""
MOST_ODD = 400
"""Symbols that are not ASCII and are demangled."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+|\?+|")
_ASKED = re.compile(r"0x[0-9a-f]+")
"""An address, as tools tell one in place of a name, and eu-addr2line before what it knows of it."""
_FILE_AND_LINE = re.compile(r"(.+?):(\d{1,8})(?::\d+)?(?: \(.*\))?")
_PLAIN_SYMBOL = re.compile(r"[A-Za-z0-9_.$]+")


class Seen(NamedTuple):
    """A function as a tool saw it; symbol: "" or an address where it has no name.

    Which of several static functions of one name it is: `file`, where it is said to be, or `start`, the
    address that it is linked to.
    """

    object: str
    symbol: str
    file: str = ""
    start: int = -1


class Known(NamedTuple):
    """The method that a function belongs to; `part`: only a piece of it, whose calls are not its calls.

    nameless: it stands for all code of an object file that has no names.
    """

    method: Method
    part: bool = False
    nameless: bool = False


class _Source(NamedTuple):
    file: str
    line: int


class Functions:
    """Finds out about the functions of one target; `notes` says what could not be found out."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._roots = [os.path.normpath(target.root), os.path.realpath(target.root)]
        self._objects: dict[str, ObjectFile] = {}
        self.notes: list[str] = []

    def object(self, path: str) -> ObjectFile:
        """The object file at a path, read once."""
        if path not in self._objects:
            self._objects[path] = object_of(self.target, Path(path))
        return self._objects[path]

    def ours(self, path: str) -> bool:
        """Whether a file lies in the checkout."""
        return self._relative(path) is not None

    def methods(self, seen: Iterable[Seen]) -> Mapping[Seen, Known]:
        """The method of each function; code without names counts to its object file, in brackets."""
        wanted = self._renamed(sorted(set(seen)))
        named = sorted({f for f in wanted.values() if not _ADDRESS.fullmatch(f.symbol)})
        names = readable({f.symbol for f in named}, self._demangle)
        sources = self._sources(named)
        found = {f: self._known(names[f.symbol], sources.get(f)) for f in named}
        best: dict[Method, Method] = {}
        for known in sorted(found.values(), key=lambda k: (k.part, k.method.line or 1 << 40)):
            best.setdefault(known.method, known.method)  # where the whole function begins, not a clone of it
        found = {f: known._replace(method=best[known.method]) for f, known in found.items()}
        return {
            f: found.get(g) or Known(Method(f"[{_base(f.object)}]"), nameless=True) for f, g in wanted.items()
        }

    def at(self, path: str, offset: int) -> Seen:
        """The function around a place in an object file."""
        address = self._mapped(path).address(offset)
        return Seen(path, "") if address is None else self._around(path, address)

    def linked(self, path: str, offset: int) -> Seen:
        """The function around a place that is so far from where its object file begins in memory."""
        return self._around(path, self._mapped(path).base + offset)

    def _around(self, path: str, address: int) -> Seen:
        place = self._mapped(path).place(address)
        if place is None:
            return Seen(path, "")
        return Seen(path, self.object(path).symbols[place], start=int(self.object(path).starts[place]))

    def _mapped(self, path: str) -> ObjectFile:
        return self.object(path) if path.startswith("/") else NOTHING

    def named(self, path: str) -> Mapping[str, Sequence[str]]:
        """Names of the functions of an object file, with their symbols; pieces of functions are left out.

        Where the rest of a function was inlined, the piece that was split off (`.part`) stands for it.
        """
        wholes: dict[str, list[str]] = defaultdict(list)
        splits: dict[str, list[str]] = defaultdict(list)
        for symbol, name in readable(set(self.object(path).symbols), self._demangle).items():
            if not name.part:
                wholes[name.text].append(symbol)
            elif ".part." in symbol and ".cold" not in symbol:
                splits[name.text].append(symbol)
        return {**splits, **wholes}

    def _renamed(self, seen: Iterable[Seen]) -> Mapping[Seen, Seen]:
        """The same functions under the one symbol, of several at an address, that every tool shall use."""
        by_object: dict[str, list[Seen]] = defaultdict(list)
        for function in seen:
            by_object[function.object].append(function)
        renamed = {}
        for path, functions in by_object.items():
            file = self._mapped(path)
            addresses = file.addresses({f.symbol for f in functions})
            for function in functions:
                # A tool that knows no name tells the address; which one, where the file is loaded as linked.
                nameless = [int(function.symbol, 16)] if _ASKED.fullmatch(function.symbol) else ()
                places = addresses.get(function.symbol) or nameless
                symbol = file.at(places[0]) if len(places) == 1 else None
                renamed[function] = function._replace(symbol=symbol or function.symbol)
        return renamed

    def _known(self, name: Name, source: _Source | None) -> Known:
        if source is None or (file := self._relative(source.file)) is None:
            return Known(Method(name.text), name.part)
        return Known(Method(name.text, file, source.line or None), name.part)

    def _relative(self, file: str) -> str | None:
        path = os.path.normpath(file)
        for root in self._roots:
            if path.startswith(root + os.sep):
                return tidy(path[len(root) + 1 :])
        # Debug paths may have been made relative to the checkout (-ffile-prefix-map).
        if file and not path.startswith((os.sep, "..")) and self._there(path):
            return tidy(path)
        return None

    def _there(self, relative: str) -> bool:
        try:
            return (self.target.root / relative).is_file()
        except (OSError, ValueError):
            return False

    def _sources(self, functions: Sequence[Seen]) -> Mapping[Seen, _Source]:
        """Where functions of the checkout's own object files begin in their sources."""
        by_object: dict[str, list[Seen]] = defaultdict(list)
        for function in functions:
            if self.ours(function.object):
                by_object[function.object].append(function)
        found: dict[Seen, _Source] = {}
        for path, here in by_object.items():
            if self.object(path).has_lines:
                found.update(self._sources_in(path, here))
            elif self.object(path).symbols:
                self.notes.append(
                    f"{_base(path)} has no debug information: its functions are known by name alone, "
                    "without file and line."
                )
        return found

    def _sources_in(self, path: str, here: Sequence[Seen]) -> Iterator[tuple[Seen, _Source]]:
        wholes = {f.symbol: bare(f.symbol) for f in here}
        addresses = self.object(path).addresses({*wholes, *wholes.values()})
        starts = {f.start for f in here if f.start >= 0}
        lines = self._lines(path, sorted(starts.union(*addresses.values())))
        for function in here:
            whole, own = (
                [lines[address] for address in addresses.get(symbol, ()) if address in lines]
                for symbol in (wholes[function.symbol], function.symbol)
            )
            if function.start in lines:
                own = [lines[function.start]]
            source = _choose(whole, own, function.file)
            if source is not None:
                yield function, source

    def _lines(self, path: str, addresses: Sequence[int]) -> Mapping[int, _Source]:
        # That of binutils 2.40 names the wrong file for functions from headers (DWARF 5); that of elfutils
        # 0.188 finds nothing in programs of clang or Go, which have no table of addresses.
        asked = "".join(f"{address:#x}\n" for address in addresses).encode()
        for tool, options in (("eu-addr2line", ("--absolute",)), ("addr2line", ())):
            # A function may begin with inlined code of another file: its own place ends the chain of callers.
            words = [tool, *options, "--addresses", "--inlines", "-e", path]
            answers = self._ask(words, asked, len(addresses), "files and lines of functions", begins=_ASKED)
            found = {}
            for address, answer in zip(addresses, answers, strict=False):
                match = _FILE_AND_LINE.fullmatch(answer)
                if match is not None and not match[1].startswith("??"):
                    found[address] = _Source(match[1], int(match[2]))
            if found:
                return found
        return {}

    def _demangle(self, symbols: Sequence[str]) -> Sequence[str]:
        """Through binutils' demangler: C++, Rust (both manglings), without arguments."""
        command = ["c++filt", "-p"]
        fit = [s for s in symbols if _PLAIN_SYMBOL.fullmatch(s)]
        # In text it only recognises ASCII; as an argument a symbol can be anything.
        odd = [s for s in symbols if not s.isascii() and s.isprintable()][:MOST_ODD]
        asked = "".join(f"{s}\n" for s in fit).encode()
        plain = dict(zip(fit, self._ask(command, asked, len(fit), "C++ names"), strict=False))
        plain |= zip(odd, self._ask([*command, *odd], b"", len(odd), "C++ names"), strict=False)
        return [plain.get(s, s) for s in symbols]

    def _ask(
        self,
        words: Sequence[str],
        asked: bytes,
        count: int,
        what: str,
        *,
        begins: re.Pattern[str] | None = None,
    ) -> Sequence[str]:
        """One answer a line, or none at all.

        begins: an answer is the last line after each such one, of a tool that ends with 1 when it does not
        know everything.
        """
        if not count:
            return ()
        if shutil.which(words[0], path=PATH) is None:
            package = "elfutils" if words[0].startswith("eu-") else "binutils"
            self.notes.append(f"`{words[0]}` ({package}) is not installed: {what} are unknown.")
            return ()
        try:
            rows = ask(self.target, words, asked, lines, partly=0 if begins is None else 1)
        except OSError as error:
            self.notes.append(f"{what[0].upper()}{what[1:]} could not be found out: {error}")
            return ()
        if begins is not None:
            starts = [place for place, row in enumerate(rows) if begins.fullmatch(row)]
            rows = [rows[end - 1] for end in (*starts[1:], len(rows))] if starts else []
        if len(rows) != count:
            self.notes.append(f"{what[0].upper()}{what[1:]} could not be found out.")
            return ()
        return rows


def without_names(nameless: Iterable[Method], shares: Mapping[Method, float], what: str) -> Sequence[str]:
    """Notes on code that counts to its object file alone, where it has a share worth a note."""
    return [
        f"{share:.0%} of the {what} were in code of {method.name} that has no names (stripped)."
        for method in sorted(nameless, key=lambda m: m.name)
        if (share := shares.get(method, 0.0)) >= NAMELESS_SHARE
    ]


def _base(path: str) -> str:
    return tidy(path.rpartition("/")[2].strip("[]")) or "unknown"


def _choose(whole: Sequence[_Source], own: Sequence[_Source], hint: str) -> _Source | None:
    """Where a function begins, from where the functions of its name and of its clone's symbol begin."""
    for source in (*whole, *own):
        if _same_file(source.file, hint):
            return source
    files, whole_files = {s.file for s in own}, {s.file for s in whole}
    if len(files) == 1:
        # A clone may begin with code that was inlined from elsewhere: the whole function knows better.
        better = [s for s in whole if s.file in files] or (whole if len(whole_files) == 1 else own)
        return better[0]
    return whole[0] if len(whole_files) == 1 else None


def _same_file(first: str, second: str) -> bool:
    return bool(second) and os.path.normpath(first) == os.path.normpath(second)
