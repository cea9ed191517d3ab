"""What the arguments of a call were like is told from registers: types and magnitudes, never contents."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.profilers.native.objects import read_object
from bot.adapters.profilers.native.signatures import Parameter, signatures, signatures_of
from tests.adapters.profilers.native.conftest import Forge

TYPES = """
#include <stddef.h>
#include <stdbool.h>
struct small { int a; }; struct large { long a[9]; };
enum color { red, green = 5 };
typedef const unsigned long count;
__attribute__((noinline)) int plain(
    int n, char letter, const char *text, double d, count c, enum color e, bool b) {
    return n + letter + *text + (int)d + (int)c + e + b; }
__attribute__((noinline)) long many(long a, long b, long c, long d, long e, long f, long g) {
    return a + b + c + d + e + f + g; }
__attribute__((noinline)) int by_value(struct small s, int n) { return s.a + n; }
__attribute__((noinline)) struct large returned(int n) { struct large l = {{n}}; return l; }
__attribute__((noinline)) void none(void) { __asm__ volatile(""); }
int main(int argc, char **argv) {
    struct small s = {1};
    none();
    return plain(argc, 'x', argv[0], 1.5, 7, green, true) + (int)many(1, 2, 3, 4, 5, 6, 7) + by_value(s, 2)
        + (int)returned(argc).a[0]; }
"""


def told(path: Path, registers: list[int]) -> dict[str, list[str]]:
    program = read_object(path)
    found = signatures(path, program.starts.tolist())
    return {program.at(s) or "": [p.told(registers) for p in parameters] for s, parameters in found.items()}


@pytest.mark.parametrize("flags", [("-O0",), ("-O2",), ("-O1", "-gdwarf-4"), ("-O1", "-gno-as-loc-support")])
def test_parameters_are_told_by_type_and_magnitude(forge: Forge, flags: tuple[str, ...]) -> None:
    forge.make("-g", *flags, main_c=TYPES)
    said = told(forge.root / "program", [2**64 - 7, ord("x"), 0, 2**40, 5, 1])
    assert said["plain"] == [
        "n=int -7",
        "letter=char",
        "text=null",
        "d=double",
        "c=long unsigned int ~2^41",
        "e=enum 5",
        "b=_Bool 1",
    ]
    assert said["none"] == []
    assert said["many"][-1] == "g=long int"  # on the stack
    # Structures shift registers: nothing is said rather than something wrong.
    assert "by_value" not in said
    assert "returned" not in said


def test_methods_of_classes_have_themselves_first(forge: Forge) -> None:
    forge.make("-g", "-O1", compiler="g++", main_cpp="""
        namespace ns { struct T { int base; __attribute__((noinline))
            long run(unsigned short n, const int &r) const { volatile long s = base + n + r; return s; } }; }
        int main(int c, char **) { ns::T t{c}; return int(t.run(3, c)); }""")  # fmt: skip
    said = told(forge.root / "program", [4096, 65536 + 12, 4096, 0, 0, 0])
    assert said["_ZNK2ns1T3runEtRKi"] == ["this=pointer", "n=short unsigned int 12", "r=pointer"]


def test_without_debug_information_nothing_is_known(forge: Forge) -> None:
    forge.make("-g0", main_c=TYPES)
    assert told(forge.root / "program", [0] * 6) == {}
    assert signatures(forge.root / "none", [1]) == {}


def test_damaged_debug_information_does_no_harm(forge: Forge) -> None:
    forge.make("-g", "-O1", main_c=TYPES)
    path = forge.root / "program"
    whole = path.read_bytes()
    starts = read_object(path).starts.tolist()
    begin = whole.index(b"plain") - 3000
    for place in range(max(begin, 4096), len(whole) - 64, 1200):
        path.write_bytes(whole[:place] + b"\xff\x00\x7f" * 5 + whole[place + 15 :])
        signatures_of(forge.target(), path, starts)
    path.write_bytes(whole)
    assert signatures_of(forge.target(), path, starts) == signatures(path, starts)


def test_a_magnitude_is_told_of_large_numbers() -> None:
    parameter = Parameter("n", "int", register=0, bytes=4, signed=True)
    assert [parameter.told([v]) for v in (999, 1000, 2**32 - 1, 2**32 - 5000, 2**32 + 3)] == [
        "n=int 999", "n=int ~2^10", "n=int -1", "n=int ~2^13", "n=int 3",
    ]  # fmt: skip
