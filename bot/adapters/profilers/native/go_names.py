"""Functions of stripped Go programs, by the table of the Go runtime, which stripping leaves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SECTIONS = (".gopclntab", ".data.rel.ro.gopclntab")
"""Where the table lies; the second in position-independent programs."""
MOST_FUNCTIONS = 4_000_000

_WORD = 8
_GO_1_16, _GO_1_18, _GO_1_20 = 0xFFFFFFFA, 0xFFFFFFF0, 0xFFFFFFF1
"""First word of the table. Go 1.2's is not read: its programs are from before 2021."""
_FIRST_FIELD = 8
_POINTER_SIZE = 7


def go_functions(table: bytes, text: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64], list[str]]:
    """Starts and ends, (n,) each, ordered, and names; text: address of the code. As of runtime/symtab.go.

    Raises:
        ValueError: it is no such table, or a damaged one.
    """
    magic = int.from_bytes(table[:4], "little")
    if magic not in (_GO_1_16, _GO_1_18, _GO_1_20) or table[_POINTER_SIZE] != _WORD:
        raise ValueError("no table of Go functions that is known here")
    fields = np.frombuffer(table, "<u8", 8, _FIRST_FIELD).tolist()
    count = min(fields[0], MOST_FUNCTIONS)
    if magic == _GO_1_16:
        names, functions, width, first = fields[2], fields[6], 8, 0
    else:  # places are told from where the code begins, which newer linkers leave to the reader
        names, functions, width, first = fields[3], fields[7], 4, fields[2] or text
    # An entry and the place of its description for each function, then where the last one ends.
    rows = np.frombuffer(table, f"<u{width}", 2 * count + 1, functions).astype(np.uint64)
    places = rows[1::2] + np.uint64(functions + width)
    bounds = rows[::2] + np.uint64(first)
    named = [
        _name(table, names + int.from_bytes(table[place : place + 4], "little")) for place in places.tolist()
    ]
    return bounds[:-1], bounds[1:], named


def _name(table: bytes, place: int) -> str:
    return table[place : table.index(b"\0", place)].decode("utf-8", "backslashreplace")
