"""Rust and Go programs as their own compilers make them: functions have the names that people wrote."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

import pytest

from bot.adapters.profilers.fine import FineProfiler
from bot.adapters.profilers.native.callgrind import Callgrind
from bot.adapters.profilers.native.functions import Functions, Seen
from bot.model.profiles import Method, MethodCost, Profile
from tests.adapters.profilers.native.conftest import Forge

RUST = """\
mod shop {
    pub struct Wheel<T> { pub given: T }
    impl<T: Into<u32> + Copy> Wheel<T> {
        #[inline(never)]
        pub fn turn(&self, n: u32) -> u32 { super::mix(n.wrapping_add(self.given.into())) }
    }
}
#[inline(never)]
fn mix(mut n: u32) -> u32 {
    for _ in 0..200000 { n = n.wrapping_mul(1664525).wrapping_add(1013904223); n ^= n >> 7; }
    n
}
fn main() {
    let wheel = shop::Wheel { given: 3u8 };
    println!("{}", (0..50).fold(0u32, |sum, i| sum.wrapping_add(wheel.turn(i))));
}
"""
GO = """\
package main

import "fmt"

//go:noinline
func mix(n uint32) uint32 {
	for i := 0; i < 20000; i++ {
		n = n*1664525 + 1013904223
		n ^= n >> 7
	}
	return n
}

type Wheel struct{ given uint32 }

//go:noinline
func (w *Wheel) Turn(n uint32) uint32 { return mix(n + w.given) }

func main() {
	wheel := &Wheel{3}
	total, told := uint32(0), make(chan uint32)
	for i := uint32(0); i < 50; i++ {
		go func(n uint32) { told <- wheel.Turn(n) }(i)
	}
	for i := 0; i < 50; i++ {
		total += <-told
	}
	fmt.Println(total)
}
"""


def built(forge: Forge, file: str, text: str, *words: str) -> None:
    """Compiles a source to `./program`; our own environment has the compilers' settings."""
    (forge.root / file).write_text(text)
    assert shutil.which(words[0]), f"{words[0]} is needed: make test"
    env = {**os.environ, "GOCACHE": str(forge.root / "cache"), "GO111MODULE": "off"}
    done = subprocess.run([*words, file], cwd=forge.root, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def named(profile: Profile) -> Mapping[str, tuple[Method, MethodCost]]:
    return {method.name: (method, cost) for method, cost in profile.methods.items()}


def test_methods_of_a_rust_program_are_counted_and_timed_under_their_names(forge: Forge) -> None:
    built(forge, "work.rs", RUST, "rustc", "-O", "-g", "-o", "program")
    coarse = Callgrind().profile(forge.target())
    assert coarse.outcome == "ok", coarse.notes
    found = named(coarse)
    mix, cost = found["work::mix"]
    assert mix.file == "work.rs" and cost.calls == 50 and cost.self_share > 0.9
    turn, turned = found["work::shop::Wheel<T>::turn"]
    assert turn.file == "work.rs" and turned.calls == 50
    fine = FineProfiler("native").watch(forge.target(), [mix, turn], coarse, overhead=10.0)
    assert {series.method.name: series.calls for series in fine.series} == {mix.name: 50, turn.name: 50}, (
        fine.notes
    )


def test_methods_of_a_go_program_are_counted_and_that_its_calls_cannot_be_timed_is_said(forge: Forge) -> None:
    built(forge, "work.go", GO, "go", "build", "-o", "program")
    coarse = Callgrind().profile(forge.target(GODEBUG="gctrace=0"))
    assert coarse.outcome == "ok", coarse.notes
    found = named(coarse)
    mix, cost = found["main.mix"]
    assert mix.file == "work.go" and cost.calls == 50 and cost.self_share > 0.7
    assert found["main.(*Wheel).Turn"][1].calls == 50
    fine = FineProfiler("native").watch(forge.target(), [mix], coarse)
    assert fine.outcome == "not-started" and not fine.series
    assert any("linked statically" in note for note in fine.notes), fine.notes


@pytest.mark.parametrize("mode", ["exe", "pie"])
def test_a_stripped_go_program_keeps_its_names_as_its_runtime_does(forge: Forge, mode: str) -> None:
    flags = ("-buildmode", mode, "-ldflags=-s -w")
    built(forge, "work.go", GO, "go", "build", *flags, "-o", "program")
    found = Functions(forge.target()).named(str(forge.root / "program"))
    assert {"main.main", "main.mix", "main.(*Wheel).Turn", "runtime.mallocgc"} <= found.keys()


def test_a_stripped_go_programs_instructions_count_to_its_functions(forge: Forge) -> None:
    built(forge, "work.go", GO, "go", "build", "-ldflags=-s -w", "-o", "program")
    profile = Callgrind().profile(forge.target())
    assert profile.outcome == "ok", profile.notes
    assert (
        next(cost for method, cost in profile.methods.items() if method.name == "main.mix").self_share > 0.5
    )
    assert not any("has no names" in note for note in profile.notes)


def test_a_symbol_that_only_begins_like_an_address_is_no_address(forge: Forge) -> None:
    forge.make(main_c="int main(void) { return 0; }")
    odd = Seen(str(forge.root / "program"), "0xodd")
    assert odd in Functions(forge.target()).methods([odd])


@pytest.mark.parametrize("times", [5])
def test_a_go_programs_counts_repeat_within_a_hundredth(forge: Forge, times: int) -> None:
    built(forge, "work.go", GO, "go", "build", "-o", "program")
    counts = [
        named(Callgrind().profile(forge.target()))["main.mix"][1].instructions or 0 for _ in range(times)
    ]
    assert min(counts) > 0 and max(counts) / min(counts) < 1.01, counts
