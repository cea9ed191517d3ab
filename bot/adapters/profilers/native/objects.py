"""What object files (ELF) know about their functions: addresses and names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from string import hexdigits
from typing import Annotated, BinaryIO, Self, TypeAlias

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, Section
from elftools.elf.segments import InterpSegment
from numpy.typing import NDArray
from pydantic import Field, model_validator

from bot.adapters.profilers.evidence import open_file, readable_by, told
from bot.adapters.profilers.native.go_names import SECTIONS, go_functions
from bot.adapters.reading.answers import Column, Told
from bot.model.profiles import Target

LARGEST = 2 << 30
"""Bytes of an object file that is read."""
MOST_SECTIONS, MOST_SEGMENTS = 100_000, 1000
SECTION_BYTES = 64
PAGE = 4096
MOST_SYMBOLS = 4_000_000

_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_Offset = Annotated[int, Field(ge=0, lt=1 << 64)]
_FUNCTION_TYPES = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
_DEBUG_SYMBOLS = Path("/usr/lib/debug/.build-id")
DAMAGED = (
    ELFError, ValueError, LookupError, StopIteration, TypeError, AttributeError, OSError, OverflowError
)  # fmt: skip
_Table: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.uint64], Sequence[str]]


@dataclass(frozen=True)
class ObjectFile:
    """Functions of one object file, ordered by address: starts and ends, shape (n,), and their symbols.

    Of several symbols of one function the last is its name. segments: (file offset, bytes, address) of what
    is loaded. has_lines: whether it has debug information. patchable: whether the compiler left room at
    function entries for a tracer. loader: the dynamic loader that it asks for, "" when it is static.
    """

    starts: NDArray[np.uint64]
    ends: NDArray[np.uint64]
    symbols: Sequence[str]
    segments: Sequence[tuple[int, int, int]] = ()
    has_lines: bool = False
    patchable: bool = False
    loader: str = ""

    def address(self, offset: int) -> int | None:
        """The address that a place in the file is linked to; None: it is not loaded."""
        for begin, size, address in self.segments:
            if begin <= offset < begin + size:
                return address + offset - begin
        return None

    @property
    def base(self) -> int:
        """The address that its first byte is linked to."""
        return min((address & -PAGE for _, _, address in self.segments), default=0)

    def at(self, address: int) -> str | None:
        """The symbol of the function around an address; None: no named function is there."""
        place = self.place(address)
        return None if place is None else self.symbols[place]

    def place(self, address: int) -> int | None:
        """The index of the function around an address; None: no named function is there."""
        if not 0 <= address < 1 << 63:
            return None
        place = int(np.searchsorted(self.starts, np.uint64(address), side="right")) - 1
        return place if place >= 0 and address < self.ends[place] else None

    def addresses(self, wanted: Iterable[str]) -> Mapping[str, list[int]]:
        """Where functions of these symbols begin; static ones of the same name begin at several places."""
        names, found = set(wanted), defaultdict(list)
        for symbol, start in zip(self.symbols, self.starts.tolist(), strict=True):
            if symbol in names:
                found[symbol].append(start)
        return found


class ToldObject(Told):
    """An object file as a reader tells it: addresses as signed numbers."""

    starts: Column
    ends: Column
    symbols: list[str]
    segments: list[tuple[_Offset, _Offset, _Offset]]
    has_lines: bool
    patchable: bool
    loader: str

    @model_validator(mode="after")
    def _has_as_many_of_each(self) -> Self:
        if not len(self.starts) == len(self.ends) == len(self.symbols):
            raise ValueError("columns of different lengths")
        return self


NOTHING = ObjectFile(np.empty(0, np.uint64), np.empty(0, np.uint64), ())


def read_object(path: Path) -> ObjectFile:
    """Reads an object file; one that is damaged, no ELF file or not there has no functions.

    Symbols that were stripped are looked for where the system keeps them (packages of debug symbols).
    """
    try:
        with open_file(path, most=LARGEST, links=True) as file:
            return _read(file)
    except DAMAGED:
        return NOTHING


def tell_object(path: Path) -> ToldObject:
    """A reader: the same, told."""
    read = read_object(path)
    return ToldObject(
        starts=read.starts.view(np.int64),
        ends=read.ends.view(np.int64),
        symbols=list(read.symbols),
        segments=list(read.segments),
        has_lines=read.has_lines,
        patchable=read.patchable,
        loader=read.loader,
    )


def object_of(target: Target, path: Path) -> ObjectFile:
    """An object file that a target's program maps, or consists of."""
    try:
        read = told(target, tell_object, path, files=[*readable_by(target), _DEBUG_SYMBOLS])
    except OSError:
        return NOTHING
    return ObjectFile(
        read.starts.view(np.uint64),
        read.ends.view(np.uint64),
        read.symbols,
        read.segments,
        read.has_lines,
        read.patchable,
        read.loader,
    )


def _read(file: BinaryIO) -> ObjectFile:
    elf = ELFFile(file)
    if elf.elfclass != 64 or not elf.little_endian:
        return NOTHING
    sections = _sections(elf)
    segments = list(islice(elf.iter_segments(), MOST_SEGMENTS))
    loads = [s for s in segments if s["p_type"] == "PT_LOAD"]
    return ObjectFile(
        *((None if ".symtab" in sections else _set_aside(sections)) or _table(file, elf, sections)),
        segments=[(s["p_offset"], s["p_filesz"], s["p_vaddr"]) for s in loads],
        has_lines=".debug_line" in sections,
        patchable="__patchable_function_entries" in sections,
        loader=next((s.get_interp_name() for s in segments if isinstance(s, InterpSegment)), ""),
    )


def _sections(elf: ELFFile) -> Mapping[str, Section]:
    if elf["e_shentsize"] != SECTION_BYTES or elf.num_sections() > MOST_SECTIONS:
        raise ValueError("its table of sections is none")
    return {section.name: section for section in elf.iter_sections()}


def _set_aside(sections: Mapping[str, Section]) -> _Table | None:
    """The symbols that a distribution took out of its library and installs apart."""
    note = sections.get(".note.gnu.build-id")
    identity = "" if not isinstance(note, NoteSection) else str(next(note.iter_notes())["n_desc"])
    path = _DEBUG_SYMBOLS / identity[:2] / f"{identity[2:]}.debug"
    if not identity or not set(identity) <= set(hexdigits) or not path.is_file():
        return None
    with open_file(path, most=LARGEST) as file:
        elf = ELFFile(file)
        return _table(file, elf, _sections(elf))


def _table(file: BinaryIO, elf: ELFFile, sections: Mapping[str, Section]) -> _Table:
    if ".symtab" not in sections and (found := next((sections[n] for n in SECTIONS if n in sections), None)):
        text = sections[".text"]["sh_addr"]
        return go_functions(_bytes(file, found, file.seek(0, 2)), text)
    # The dynamic table is what stripping leaves.
    table = sections.get(".symtab") or sections.get(".dynsym")
    if table is None:
        return NOTHING.starts, NOTHING.ends, ()
    size = file.seek(0, 2)
    return _functions(_bytes(file, table, size), _bytes(file, elf.get_section(table["sh_link"]), size))


def _bytes(file: BinaryIO, section: Section, size: int) -> bytes:
    offset, length = section["sh_offset"], section["sh_size"]
    if offset + length > size:
        raise ValueError("a section lies outside of the file")
    file.seek(offset)
    return file.read(length)


def _functions(table: bytes, strings: bytes) -> _Table:
    entries = np.frombuffer(table, _SYMBOL, len(table) // _SYMBOL.itemsize)[:MOST_SYMBOLS]
    code = np.isin(entries["info"] & 15, _FUNCTION_TYPES) & (entries["section"] != 0) & (entries["size"] > 0)
    entries = entries[code]
    symbols = []
    for begin in entries["name"].tolist():
        end = strings.index(b"\0", begin)
        symbols.append(strings[begin:end].decode("utf-8", "backslashreplace"))
    values = entries["value"].tolist()
    order = sorted(range(len(symbols)), key=lambda i: (values[i], *_liked(symbols[i])))
    starts, sizes = entries["value"][order].astype(np.uint64), entries["size"][order].astype(np.uint64)
    return starts, starts + sizes, [symbols[i] for i in order]


def _liked(symbol: str) -> tuple[int, int, str]:
    """Orders the names of one function, the one that people use last: `write` after `__GI___libc_write`."""
    hidden = 0 if symbol.startswith(("_Z", "_R")) else len(symbol) - len(symbol.lstrip("_"))
    return -hidden, -len(symbol), symbol
