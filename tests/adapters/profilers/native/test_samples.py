"""Samples are found again in the files that were mapped where they fell."""

from __future__ import annotations

import struct
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.profilers.native.samples import AddressSpace, Spot, read_gperftools, read_perf

MAPS = (
    "build=/usr/bin/program\n"
    "55d33e30b000-55d33e30c000 r--p 00000000 fe:00 2467581    /tmp/a program\n"
    "55d33e30c000-55d33e30e000 r-xp 00001000 fe:00 2467581    /tmp/a program\n"
    "7f7474c10000-7f7474c12000 r-xp 00000000 00:00 0          [vdso]\n"
    "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
)


def profile(records: list[tuple[int, list[int]]], maps: str = MAPS) -> bytes:
    words = [0, 3, 0, 1001, 0]
    for count, addresses in records:
        words += [count, len(addresses), *addresses]
    return struct.pack(f"<{len(words) + 3}Q", *words, 0, 1, 0) + maps.encode()


def test_a_profile_of_gperftools_counts_where_the_counter_was() -> None:
    data = profile([(5, [0x55D33E30C149, 1]), (2, [0x55D33E30C149]), (1, [0x7F7474C10010]), (4, [0x10])])
    assert read_gperftools(data) == Counter(
        {Spot("/tmp/a program", 0x1149): 7, Spot("[vdso]", 0x10): 1, Spot("", 0): 4}
    )
    assert read_gperftools(profile([(1, [0x7F0000000010])])) == Counter({Spot("", 0x10): 1})


def test_an_unfinished_profile_of_gperftools_is_refused_wherever_it_was_cut() -> None:
    data = profile([(5, [0x55D33E30C149, 1, 2, 3]), (2, [4])], "")
    for length in range(len(data)):
        with pytest.raises(ValueError, match=r"unfinished|not a CPU profile"):
            read_gperftools(data[:length])


@given(st.binary(max_size=300), st.integers(0, 40))
def test_no_bytes_do_anything_but_parse_or_be_refused(noise: bytes, place: int) -> None:
    data = profile([(5, [0x55D33E30C149, 1])])
    for hostile in (noise, data[:place] + noise + data[place:]):
        try:
            spots = read_gperftools(hostile)
        except ValueError:
            continue
        assert all(count > 0 for count in spots.values())


PERF = """\
    0 PERF_RECORD_COMM: perf-exec:2119/2119
 2119 PERF_RECORD_COMM exec: a b:2119/2119
 2119 PERF_RECORD_MMAP2 2119/2119: [0x1000(0x1000) @ 0x3000 fe:00 2467581 3034928012]: r-xp /tmp/a program
 2119 PERF_RECORD_MMAP 2119/2119: [0x9000(0x1000) @ 0 ]: x [vdso]
 2119      1149
 2119      1149
 2119      9010
 2119 PERF_RECORD_FORK(2120:2120):(2119:2119)
 2120      114a
 2120 PERF_RECORD_COMM exec: other:2120/2120
 2120      114a
 2120 PERF_RECORD_MMAP2 2120/2120: [0x1000(0x1000) @ 0 fe:00 1 1]: r-xp /bin/other
 2120      114a
 2119 PERF_RECORD_FORK(2119:2121):(2119:2119)
 2119      1149
nonsense
 2119 PERF_RECORD_MMAP2 2119/2119: [0x1000(0x1000) @ 0x8000 fe:00 9 9]: r-xp /tmp/loaded later
 2119      1149
 2119 PERF_RECORD_EXIT(2119:2119):(2118:2118)
"""


def test_samples_of_perf_follow_forks_executions_and_loading() -> None:
    assert read_perf(PERF.split("\n")) == Counter(
        {
            Spot("/tmp/a program", 0x3149): 3,
            Spot("/tmp/a program", 0x314A): 1,
            Spot("[vdso]", 0x10): 1,
            Spot("", 0): 1,
            Spot("/bin/other", 0x14A): 1,
            Spot("/tmp/loaded later", 0x8149): 1,
        }
    )


@given(st.lists(st.text(st.sampled_from("0123456789abcdef PERF_RECORD_MMAP2[]()@x:/-"), max_size=80)))
def test_no_text_of_perf_does_any_harm(lines: list[str]) -> None:
    assert read_perf([*lines, *PERF.split("\n"), *lines]).total() >= 8


def test_what_is_not_mapped_is_nowhere() -> None:
    space = AddressSpace()
    space.map(0x1000, 0x2000, 0, "/a")
    assert [space.spot(a).path for a in (0xFFF, 0x1000, 0x1FFF, 0x2000)] == ["", "/a", "/a", ""]
    space.map(0x5000, 0x5000, 0, "/empty")
    assert space.spot(0x5000).path == ""
