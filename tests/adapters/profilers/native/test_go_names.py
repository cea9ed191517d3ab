from __future__ import annotations

import struct

import pytest

from bot.adapters.profilers.native.go_names import go_functions

NAMES = ("main.main", "main.(*Wheel).Turn", "main.größe")
ENTRIES = (0x401000, 0x401040, 0x4010C0)
END, TEXT = 0x401100, 0x401000
OLD, EARLY, NEW = 0xFFFFFFFA, 0xFFFFFFF0, 0xFFFFFFF1


def table(magic: int, *, text: int = TEXT) -> bytes:
    """The runtime's table of three functions, as the linkers of Go 1.16, 1.18 and 1.20 lay it out."""
    fields = 7 if magic == OLD else 8
    names = b"".join(name.encode() + b"\0" for name in NAMES)
    at_names = 8 + 8 * fields
    at_rows = at_names + len(names)
    word, first = ("<Q", 0) if magic == OLD else ("<I", TEXT)
    width = struct.calcsize(word)
    rows, described = b"", b""
    for entry, name in zip(ENTRIES, NAMES, strict=True):
        place = (2 * len(NAMES) + 1) * width + len(described)
        rows += struct.pack(word, entry - first) + struct.pack(word, place)
        described += struct.pack(word, entry - first) + struct.pack("<i", names.index(name.encode()))
    rows += struct.pack(word, END - first)
    told = [3, 0, at_names, 0, 0, 0, at_rows] if magic == OLD else [3, 0, text, at_names, 0, 0, 0, at_rows]
    return (
        struct.pack("<IBBBB", magic, 0, 0, 1, 8)
        + struct.pack(f"<{fields}Q", *told)
        + names
        + rows
        + described
    )


@pytest.mark.parametrize("made", [table(OLD), table(EARLY), table(NEW), table(NEW, text=0)])
def test_functions_have_the_names_and_places_that_the_runtime_knows(made: bytes) -> None:
    starts, ends, names = go_functions(made, TEXT)
    assert tuple(names) == NAMES
    assert tuple(starts.tolist()) == ENTRIES
    assert tuple(ends.tolist()) == (*ENTRIES[1:], END)


@pytest.mark.parametrize("made", [b"", table(NEW)[:-40], table(0xFFFFFFFB), b"\0" * 200])
def test_what_is_no_table_or_a_damaged_one_is_refused(made: bytes) -> None:
    with pytest.raises((ValueError, LookupError)):
        go_functions(made, TEXT)
