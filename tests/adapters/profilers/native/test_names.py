"""A function has one name in all builds: no arguments, clones, hashes, numbers of lambdas."""

from __future__ import annotations

import subprocess
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.profilers.native.functions import Functions, Seen
from bot.adapters.profilers.native.names import LONGEST, Name, readable, tidy
from tests.adapters.profilers.native.conftest import Forge


def demangle(symbols: Sequence[str]) -> Sequence[str]:
    return subprocess.run(
        ["c++filt", "-p", *symbols], check=True, capture_output=True, text=True
    ).stdout.splitlines()


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("main", "main"),
        ("lzma_mf_hc4_find", "lzma_mf_hc4_find"),
        ("memcpy@@GLIBC_2.14", "memcpy"),
        ("realloc@GLIBC_2.2.5", "realloc"),
        # copies that compilers make
        ("scaled.constprop.0", "scaled"),
        ("scaled.isra.0.constprop.3", "scaled"),
        ("table.lto_priv.0", "table"),
        ("fold.llvm.1234567890123456789", "fold"),
        ("__memcpy_avx512_unaligned_erms", "memcpy"),
        ("__strlen_avx2", "strlen"),
        ("my_memcpy_avx2", "my_memcpy_avx2"),
        # C++
        ("_ZN3foo3barEi", "foo::bar"),
        ("_ZNK3FooclEi", "Foo::operator()"),
        ("_ZN3FoocviEv", "Foo::operator int"),
        (
            "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
            "std::operator<< <std::char_traits<char>>",
        ),
        ("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int>>::push_back"),
        ("_ZSt4swapIiEvRT_S1_", "std::swap<int>"),
        ("_ZN12_GLOBAL__N_14implEv", "(anonymous namespace)::impl"),
        ("_Z3fooi.constprop.0", "foo"),
        ("_ZZN3foo3barEiEN5Local3runEv", "foo::bar::Local::run"),
        ("_ZNK3FooltERKS_", "Foo::operator<"),
        ("_ZZNK3FoorsEiEN5Local3runEv", "Foo::operator>>::Local::run"),
        ("_ZN3FooptEv", "Foo::operator->"),
        ("_ZN1AILl4EE1fEv", "A<4l>::f"),
        ("_ZN3foo3barEi.isra.0", "foo::bar"),
        # Rust, as before and as it is now
        ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
        (
            "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
            "<Test + 'static as foo::Bar<Test>>::bar",
        ),
        ("_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"),
        ("_RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar3baz", "<mycrate::foo::Bar>::baz"),
        # Go
        ("main.main", "main.main"),
        ("main.(*Tree).Insert", "main.(*Tree).Insert"),
        ("github.com/a/b%2ec.F", "github.com/a/b%2ec.F"),
        # not readable: stays as it is
        ("_Zbroken", "_Zbroken"),
        ("_ZN", "_ZN"),
    ],
)
def test_a_symbol_becomes_the_name_of_its_method(symbol: str, name: str) -> None:
    assert readable([symbol], demangle) == {symbol: Name(name)}


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("scaled.part.0", "scaled"),
        ("fail.cold", "fail"),
        ("_ZN3foo3barEi.part.0.constprop.1", "foo::bar"),
        ("_ZZ4mainENKUlvE_clEv", "main"),
        ("_ZZN3foo3barEiENKUliE0_clEi", "foo::bar"),
        ("_ZZ4mainENUlvE_4_FUNEv", "main"),
        ("_ZN4main4work28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE", "main::work"),
        ("_RNCNvCs1234_7mycrate4main0B3_", "mycrate::main"),
        ("main.main.func1", "main.main"),
        ("main.(*Tree).Walk.func2.1", "main.(*Tree).Walk"),
        ("main.serve.gowrap1", "main.serve"),
        ("main.each-range1", "main.each"),
    ],
)
def test_a_piece_of_a_method_counts_to_it_but_is_not_a_call_of_it(symbol: str, name: str) -> None:
    assert readable([symbol], demangle) == {symbol: Name(name, part=True)}


def test_a_lambda_in_a_template_argument_has_no_number_that_another_one_would_change() -> None:
    first, second = (
        readable([symbol], demangle)[symbol]
        for symbol in (
            "_ZSt8for_eachIPiZ4mainEUliE_ET0_T_S3_S2_",
            "_ZSt8for_eachIPiZ4mainEUliE0_ET0_T_S3_S2_",
        )
    )
    assert first == second == Name("std::for_each<int*, main::{lambda(int)}>")


@given(st.text(max_size=LONGEST * 2))
def test_a_name_is_one_line_of_bounded_length_without_tricks(text: str) -> None:
    name = tidy(text)
    assert len(name) <= LONGEST
    assert all(unicodedata.category(c)[0] != "C" for c in name)
    assert len(name.splitlines()) <= 1


def test_long_names_that_differ_at_their_end_stay_different() -> None:
    assert tidy("a" * 5000 + "b") != tidy("a" * 5000 + "c")


@given(st.lists(st.text(st.sampled_from("_ZRN3foo.partcold0func1{}<>()#$@'-λ"), max_size=40), unique=True))
def test_every_symbol_has_a_name_whatever_it_is(symbols: list[str]) -> None:
    assert set(readable(symbols, lambda mangled: mangled)) == set(symbols)


def test_a_symbol_that_explodes_does_no_harm(forge: Forge) -> None:
    """Every substitution doubles the name: a hundred letters are gigabytes when spelled out."""
    types = "1a" + "".join(f"St4pairIS{'' if n == 0 else n - 1 if n < 11 else 'A'}_S_E" for n in range(3))
    bomb = "_Z1f" + "".join(f"I{'T_' * 2}E" for _ in range(3)) + types
    doubled = "1a"
    for n in range(26):
        seen = "S_" if n == 0 else f"S{'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'[n - 1]}_"
        doubled += f"1bI{seen}{seen}E"
    functions = Functions(forge.target())
    known = functions.methods([Seen("/x", bomb), Seen("/x", f"_Z1f{doubled}"), Seen("/x", "_Z1gv")])
    assert len(known) == 3
    assert all(len(k.method.name) <= LONGEST for k in known.values())


def test_a_symbol_cannot_pass_for_several_answers_of_the_demangler(forge: Forge) -> None:
    hostile = ["_Z1fv\n_Z1gv", "_Z1fv _Z1gv", "--help", "@/etc/passwd", "_Z1f\0", "_Z1hv"]
    known = Functions(forge.target()).methods(Seen("/x", s) for s in hostile)
    names = {f.symbol: k.method.name for f, k in known.items()}
    assert names["_Z1hv"] == "h"
    assert names["--help"] == "--help"
    assert "\n" not in "".join(names.values())


def test_without_a_demangler_names_stay_as_they_are(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adapters.profilers.native.functions.PATH", str(forge.root))
    functions = Functions(forge.target())
    (known,) = functions.methods([Seen("/x", "_Z1fv")]).values()
    assert known.method.name == "_Z1fv"
    assert functions.notes == ["`c++filt` (binutils) is not installed: C++ names are unknown."]


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + b"\xff" * 200, b"#!/bin/sh\n"])
def test_an_object_file_that_is_none_has_no_functions(forge: Forge, content: bytes) -> None:
    path = forge.root / "program"
    path.write_bytes(content)
    (known,) = Functions(forge.target()).methods([Seen(str(path), "f")]).values()
    assert (known.method.name, known.method.file) == ("f", None)


def test_an_object_file_damaged_anywhere_does_no_harm(forge: Forge) -> None:
    forge.make("-g", main_c="int work(void) { return 1; } int main(void) { return work(); }")
    path = forge.root / "program"
    whole = path.read_bytes()
    for place in (16, 40, 48, 58, 60, 62, 200, len(whole) - 100, len(whole) - 1000):
        path.write_bytes(whole[:place] + b"\xff" * 8 + whole[place + 8 :])
        (known,) = Functions(forge.target()).methods([Seen(str(path), "work")]).values()
        assert known.method.name == "work"
        path.write_bytes(whole[: len(whole) - place])
        (known,) = Functions(forge.target()).methods([Seen(str(path), "work")]).values()
        assert known.method.name == "work"


def test_sources_outside_of_the_checkout_are_no_files_of_ours(forge: Forge, open_path: Path) -> None:
    (open_path / "other.h").write_text("static __attribute__((noinline)) int other(void) { return 2; }\n")
    forge.make("-g", main_c='#include "../other.h"\nint main(void) { return other(); }')
    program = str(forge.root / "program")
    known = Functions(forge.target()).methods([Seen(program, "other"), Seen(program, "main")])
    assert {(k.method.name, k.method.file, k.method.line) for k in known.values()} == {
        ("other", None, None),
        ("main", "main.c", 2),
    }


def test_debug_paths_relative_to_the_checkout_are_understood(forge: Forge) -> None:
    forge.make("-g", f"-ffile-prefix-map={forge.root}=.", main_c="int main(void) { return 0; }")
    (known,) = Functions(forge.target()).methods([Seen(str(forge.root / "program"), "main")]).values()
    assert (known.method.file, known.method.line) == ("main.c", 1)
