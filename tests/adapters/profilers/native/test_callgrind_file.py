"""Profiles of callgrind are read as callgrind's own annotator reads them."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.profilers.native.callgrind import summarise
from bot.adapters.profilers.native.callgrind_file import Counts, Place, parse
from bot.adapters.profilers.native.functions import Functions
from bot.model.profiles import Method, MethodCost
from tests.adapters.profilers.native.conftest import Forge

HEAD = "# callgrind format\nversion: 1\ncreator: test\npid: 7\npart: 1\n\ndesc: Trigger: end\n\n"
CYCLE = """
#include <stdlib.h>
__attribute__((noinline)) int odd(int n);
__attribute__((noinline)) int even(int n) { return n <= 0 ? 1 : odd(n - 1) ^ n; }
__attribute__((noinline)) int odd(int n) { return n <= 0 ? 0 : even(n - 1) + n; }
__attribute__((noinline)) int tree(int n) { return n < 2 ? n : tree(n - 1) + tree(n - 2); }
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
    int numbers[200];
    for (int i = 0; i < 200; i++) numbers[i] = (i * 7919) % 211;
    qsort(numbers, 200, sizeof *numbers, order);
    return (tree(12) + even(30) + numbers[3]) == 1;
}
"""
TEMPLATES = """
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <class T> __attribute__((noinline)) T twice(T value) { return value + value; }
int main() {
    std::map<std::string, std::vector<int>> table;
    for (int i = 0; i < 50; i++) table[std::to_string(i % 7)].push_back(twice(i));
    std::sort(table["3"].begin(), table["3"].end(), [](int a, int b) { return a > b; });
    return twice(std::string("a")).size() == 1;
}
"""


def read(path: Path) -> Counts:
    return parse(path.read_text("utf-8").split("\n"))


def callgrind(forge: Forge, *options: str) -> Path:
    written = forge.root / "profile"
    command = ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={written}", *options, "./program"]
    subprocess.run(command, cwd=forge.root, check=True)
    return written


def annotated(path: Path, *options: str) -> str:
    command = [
        "callgrind_annotate",
        "--threshold=100",
        "--auto=no",
        "--show-percs=no",
        "--show=Ir",
        *options,
        str(path),
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def told(function: str) -> str:
    """The annotator counts inlined code to its own file and no object: functions are compared by symbol."""
    return re.sub(r"(?:'\d+)?(?: \[[^\[\]]+\])?$", "", function.partition(":")[2])


def annotated_costs(path: Path) -> Counter[str]:
    costs: Counter[str] = Counter()
    for count, function in re.findall(r"^\s*([\d,]+)  (\S+:.+)$", annotated(path), re.MULTILINE):
        costs[told(function)] += int(count.replace(",", ""))
    return costs


def annotated_calls(path: Path) -> Counter[tuple[str, str]]:
    """(caller, callee) -> calls."""
    calls: Counter[tuple[str, str]] = Counter()
    caller = ""
    for line in annotated(path, "--tree=calling").splitlines():
        if match := re.match(r"^\s*[\d,]+  \*  (.+)$", line):
            caller = told(match[1])
        elif match := re.match(r"^\s*[\d,]+  >   (.+) \(([\d,]+)x\)( \[.+\])?$", line):
            calls[caller, told(match[1])] += int(match[2].replace(",", ""))
    return calls


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ({"main_c": CYCLE}, ()),
        ({"main_c": CYCLE}, ("--collect-jumps=yes",)),
        ({"main_c": CYCLE}, ("--dump-instr=yes",)),
        ({"main_c": CYCLE}, ("--compress-strings=no", "--compress-pos=no", "--cache-sim=yes")),
        ({"main_cpp": TEMPLATES}, ("--demangle=no",)),
    ],
)
def test_costs_and_calls_are_those_that_the_annotator_prints(
    forge: Forge, source: dict[str, str], options: tuple[str, ...]
) -> None:
    forge.make("-g", "-O1", compiler="g++" if "main_cpp" in source else "gcc", **source)
    written = callgrind(forge, *options)
    counts = read(written)
    costs: Counter[str] = Counter()
    for place, cost in counts.own.items():
        costs[place.symbol] += cost
    expected = annotated_costs(written)
    assert len(expected) > 20
    assert +costs == +expected  # the annotator prints no function without cost
    calls: Counter[tuple[str, str]] = Counter()
    for (caller, callee), (count, _) in counts.edges.items():
        calls[caller.symbol, callee.symbol] += count
    assert calls == annotated_calls(written)


def test_recursion_is_one_function_with_all_its_calls(forge: Forge) -> None:
    forge.make("-g", "-O0", main_c=CYCLE)
    counts = read(callgrind(forge))
    (tree,) = [place for place in counts.own if place.symbol == "tree"]
    assert counts.edges[tree, tree][0] == 464  # 465 calls of tree(12), the first one from main
    even, odd = (next(p for p in counts.own if p.symbol == name) for name in ("even", "odd"))
    assert (counts.edges[even, odd][0], counts.edges[odd, even][0]) == (15, 15)


names = st.text(st.characters(codec="utf-8", exclude_characters="\n\r'"), min_size=1, max_size=20).filter(
    lambda text: not re.match(r"\(\d+\)", text) and text.strip() == text
)
places = st.builds(Place, names, names, names)
costs = st.integers(0, 1 << 40)


@given(
    own=st.dictionaries(places, st.lists(costs, min_size=1, max_size=4), min_size=1, max_size=8),
    edges=st.lists(st.tuples(st.integers(0, 99), places, st.integers(0, 1 << 20), costs), max_size=8),
    compressed=st.booleans(),
    steps=st.data(),
)
def test_whatever_is_written_in_the_format_is_read_back(
    own: dict[Place, list[int]],
    edges: list[tuple[int, Place, int, int]],
    compressed: bool,
    steps: st.DataObject,
) -> None:
    lines, numbers, expected = [HEAD + "positions: line\nevents: Ir"], dict[tuple[str, str], int](), Counts()

    def spelled(kind: str, name: str) -> str:
        if not compressed:
            return name
        if (kind, name) in numbers:
            return f"({numbers[kind, name]})"
        numbers[kind, name] = len(numbers) + 1
        return f"({len(numbers)}) {name}"

    for number, (place, several) in enumerate(own.items()):
        lines += [
            f"ob={spelled('ob', place.object)}",
            f"fl={spelled('fl', place.file)}",
            f"fn={spelled('fn', place.symbol)}",
        ]
        for cost in several:
            if steps.draw(st.booleans()):
                lines += [f"{steps.draw(st.sampled_from(['fi', 'fe']))}={spelled('fl', 'inlined.h')}"]
            if steps.draw(st.booleans()):
                lines += ["jump=3 +4", "*"]
            lines.append(f"{steps.draw(st.sampled_from(['12', '+3', '-2', '*']))} {cost}")
        for caller, callee, calls, cost in edges:
            if caller % len(own) == number:
                lines += [
                    f"cob={spelled('ob', callee.object)}",
                    f"cfi={spelled('fl', callee.file)}",
                    f"cfn={spelled('fn', callee.symbol)}",
                    f"calls={calls} +5",
                    f"* {cost}",
                ]
                expected.add(Counts({}, {(place, callee): (calls, cost)}))
        expected.add(Counts({place: sum(several)}))
    lines.append(f"totals: {sum(map(sum, own.values()))}")
    counts = parse("\n".join(lines).split("\n"))
    assert counts.own == expected.own
    assert counts.edges == expected.edges


def test_an_unfinished_profile_is_refused_wherever_it_was_cut(forge: Forge) -> None:
    forge.make("-g", main_c=CYCLE)
    lines = callgrind(forge).read_text("utf-8").split("\n")
    for length in range(0, len(lines) - 3, 50):
        with pytest.raises(ValueError, match=r"unfinished|line|add up"):
            parse(lines[:length])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unfinished"),
        ("\0\0\0\0", "unfinished"),
        ("positions: line\nevents: Dr\ntotals: 1", "line 2"),
        ("events: Ir\nfn=(1)\n1 1\ntotals: 1", "line 2"),
        ("events: Ir\nfn=a\n1 2\ntotals: 1", "add up"),
        ("events: Ir\nfn=a\n1 -2\ntotals: -2", "line 3"),
        (f"events: Ir\nfn=a\n1 {'9' * 5000}\ntotals: 1", "line 3"),
        ("events: Ir\nfn=a\ncalls=1 1\n1 2\ntotals: 0", "line 3"),
        ("events: Ir\nfn=a\ncalls=\n", "line 3"),
    ],
)
def test_a_damaged_profile_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse(text.split("\n"))


@given(st.text(st.sampled_from("events: Ir\ncalfnob=()1 +-*\n0\0"), max_size=200))
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    try:
        counts = parse(text.split("\n"))
    except ValueError:
        return
    assert all(cost >= 0 for cost in counts.own.values())


def test_a_hundred_thousand_functions_are_read_and_named(forge: Forge) -> None:
    number = 100_000
    lines = ["events: Ir", "ob=(1) /nowhere/program"]
    for i in range(number):
        name, callee = f"f{i}", f"f{(7 * i) % number}"
        lines += [
            f"fn=({i + 1}) _ZN2ns{len(name)}{name}EiSsd", "7 100", "+1 50",
            f"cfn=({(7 * i) % number + 1}) _ZN2ns{len(callee)}{callee}EiSsd", "calls=3 5", "* 999",
        ]  # fmt: skip
    counts = parse([*lines, f"totals: {150 * number}"])
    costs, edges, notes = summarise(counts, Functions(forge.target()))
    assert (len(costs), len(edges), notes) == (number, number, [])
    assert costs[Method("ns::f8")] == MethodCost(1 / number, calls=3, instructions=150)
