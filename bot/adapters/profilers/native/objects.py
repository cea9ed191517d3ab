"""What object files (ELF) know about their functions: addresses, names, source files and lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section
from numpy.typing import NDArray

from bot.adapters.profilers.evidence import open_file

LARGEST = 2 << 30
"""Bytes of an object file that is read."""
MOST_SYMBOLS = 4_000_000
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
_FUNCTION_TYPES = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
_DAMAGED = (ELFError, ValueError, LookupError, TypeError, AttributeError, OSError, OverflowError)


@dataclass(frozen=True)
class ObjectFile:
    """Functions of one object file, ordered by address: starts and ends, shape (n,), and their symbols.

    segments: (file offset, bytes, address) of what is loaded. has_lines: whether it has debug information.
    patchable: whether the compiler left room at function entries for a tracer.
    """

    starts: NDArray[np.uint64]
    ends: NDArray[np.uint64]
    symbols: Sequence[str]
    segments: Sequence[tuple[int, int, int]] = ()
    has_lines: bool = False
    patchable: bool = False

    def address(self, offset: int) -> int | None:
        """The address that a place in the file is linked to; None: it is not loaded."""
        for begin, size, address in self.segments:
            if begin <= offset < begin + size:
                return address + offset - begin
        return None

    def at(self, address: int) -> str | None:
        """The symbol of the function around an address; None: no named function is there."""
        place = int(np.searchsorted(self.starts, np.uint64(address), side="right")) - 1
        return self.symbols[place] if place >= 0 and address < self.ends[place] else None

    def addresses(self, wanted: Iterable[str]) -> Mapping[str, list[int]]:
        """Where functions of these symbols begin; static ones of the same name begin at several places."""
        names, found = set(wanted), defaultdict(list)
        for symbol, start in zip(self.symbols, self.starts.tolist(), strict=True):
            if symbol in names:
                found[symbol].append(start)
        return found


NOTHING = ObjectFile(np.empty(0, np.uint64), np.empty(0, np.uint64), ())


def read_object(path: Path) -> ObjectFile:
    """Reads an object file; one that is damaged, no ELF file or not there has no functions."""
    try:
        with open_file(path, most=LARGEST, links=True) as file:
            return _read(ELFFile(file), file)
    except _DAMAGED:
        return NOTHING


def _read(elf: ELFFile, file: BinaryIO) -> ObjectFile:
    if elf.elfclass != 64 or not elf.little_endian:
        return NOTHING
    size = file.seek(0, 2)
    sections = {section.name: section for section in elf.iter_sections()}
    # The dynamic table alone is what stripping leaves.
    table = sections.get(".symtab") or sections.get(".dynsym")
    starts, ends, symbols = NOTHING.starts, NOTHING.ends, NOTHING.symbols
    if table is not None:
        strings = elf.get_section(table["sh_link"])
        starts, ends, symbols = _functions(_bytes(file, table, size), _bytes(file, strings, size))
    return ObjectFile(
        starts,
        ends,
        symbols,
        segments=[
            (s["p_offset"], s["p_filesz"], s["p_vaddr"])
            for s in elf.iter_segments()
            if s["p_type"] == "PT_LOAD"
        ],
        has_lines=".debug_line" in sections,
        patchable="__patchable_function_entries" in sections,
    )


def _bytes(file: BinaryIO, section: Section, size: int) -> bytes:
    offset, length = section["sh_offset"], section["sh_size"]
    if offset + length > size:
        raise ValueError("a section lies outside of the file")
    file.seek(offset)
    return file.read(length)


def _functions(table: bytes, strings: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint64], list[str]]:
    entries = np.frombuffer(table, _SYMBOL, len(table) // _SYMBOL.itemsize)[:MOST_SYMBOLS]
    code = np.isin(entries["info"] & 15, _FUNCTION_TYPES) & (entries["section"] != 0) & (entries["size"] > 0)
    entries = entries[code]
    entries = entries[np.argsort(entries["value"], kind="stable")]
    symbols = []
    for begin in entries["name"].tolist():
        end = strings.index(b"\0", begin)
        symbols.append(strings[begin:end].decode("utf-8", "backslashreplace"))
    starts = entries["value"].astype(np.uint64)
    return starts, starts + entries["size"].astype(np.uint64), symbols
