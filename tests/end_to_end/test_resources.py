"""The real command names what a change asks of the machine, by the machine's own counts."""

from __future__ import annotations

import shutil

import pytest

from tests.end_to_end.builders import CONFIG, Ended, Place, config

PROGRAM = """\
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned plain(unsigned n) {
    unsigned s = n;
    for (int i = 0; i < 40; i++) s ^= s << 13, s ^= s >> 17;
    return s;
}
static void work(int turns) {
    for (int i = 0; i < turns; i++) {
        WORK
    }
}
int main(int count, char **words) {
    volatile unsigned sum = 0;
    int alpha = 0;
    for (int i = 1; i < count; i++) alpha |= !strcmp(words[i], "--alpha");
    for (int i = 0; i < 150000; i++) sum += plain(i);
    if (alpha) work(TURNS);
    return 0;
}
"""
OPENING = 'close(open("/etc/passwd", O_RDONLY));'
TOUCHING = (
    "char *page = mmap(0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
    " for (int k = 0; k < 16; k++) page[k << 12] = 1; munmap(page, 1 << 16);"
)


def run(place: Place, work: str, *, turns: tuple[int, int]) -> Ended:
    """A pull request that changes how often `work` is done, analysed until resources are named."""
    program = {"runtime": "native", "build": "cc -O1 -o work work.c"}
    options = {name: {"flag": f"--{name}"} for name in ("alpha", "beta")}
    text = PROGRAM.replace("WORK", work)
    settings = config(program=program, run="./work {options}", options=options, threshold="3%")
    place.commit({CONFIG: settings, "work.c": text.replace("TURNS", str(turns[0]))})
    place.commit({"work.c": text.replace("TURNS", str(turns[1])), "README": "more\n"})
    return place.clear(lambda report: report["suspects"]["resources"], seconds=30)


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_file_system_calls_behind_an_option_are_named_with_their_counts(place: Place) -> None:
    ended = run(place, OPENING, turns=(200, 3000))
    assert ended.report is not None, ended.said
    first = ended.report["suspects"]["resources"][0]
    assert (first["feature"], first["count"], first["term"]) == (
        "filesystem", "filesystem_calls", ["alpha"],
    ), ended.notes  # fmt: skip
    assert first["head"] - first["base"] == pytest.approx(5_600, rel=0.01)
    assert 0 < first["estimated_seconds"] <= first["change_seconds"] * 1.001
    (counted,) = [one for one in ended.report["resources"] if one["options"]["alpha"]]
    (calls,) = [one["calls"] for one in counted["counts"] if one["count"] == "filesystem_calls"]
    assert {call["name"] for call in calls} >= {"openat", "close"}
    assert "File system calls 4" in ended.out and "Resources: file system" in ended.out


def test_page_faults_behind_an_option_are_named_from_the_pairs_alone(place: Place) -> None:
    ended = run(place, TOUCHING, turns=(50, 1500))
    assert ended.report is not None, ended.said
    assert ended.report["verdict"] == "regression"
    first = ended.report["suspects"]["resources"][0]
    assert (first["feature"], first["count"]) == ("vm", "page_faults"), ended.notes
    assert first["head"] - first["base"] == pytest.approx(16 * 1450, rel=0.02)
