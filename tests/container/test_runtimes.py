"""Methods of each runtime's programs are found and timed in the real image, under Docker's rights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.container.engine import ROOT, Engine

pytestmark = pytest.mark.container

# Two hundred calls of about a millisecond: long enough to be timed one by one.
NATIVE = """\
__attribute__((noinline)) unsigned mix(unsigned n) {
    for (int i = 0; i < 500000; i++) n = n * 1664525u + 1013904223u;
    return n;
}
int main(void) {
    volatile unsigned total = 0;
    for (int i = 0; i < 200; i++) total += mix(i);
}
"""
PYTHON = """\
def mix(n):
    for i in range(10000):
        n = (n * 1664525 + 1013904223) & 0xFFFFFFFF
    return n
print(sum(mix(i) for i in range(200)))
# The interpreter's own events come with Python 3.12; those who use them have a name.
import sys
with open("scratch/tools", "a") as file:
    print(*filter(None, map(sys.monitoring.get_tool, range(6))), file=file)
"""
NODE = """\
function mix(n) {
    for (let i = 0; i < 500000; i++) n = (Math.imul(n, 1664525) + 1013904223) >>> 0;
    return n;
}
let total = 0;
for (let i = 0; i < 200; i++) total += mix(i);
console.log(total);
"""
JAVA = """\
class Work {
    static int mix(int n) {
        for (int i = 0; i < 500000; i++) n = n * 1664525 + 1013904223;
        return n;
    }
    public static void main(String[] words) {
        int total = 0;
        for (int i = 0; i < 200; i++) total += mix(i);
        System.out.println(total);
    }
}
"""
WARY = JAVA.replace(
    "        int total",
    """        String given = System.getenv("JAVA_TOOL_OPTIONS");
        if (given != null && given.contains("-javaagent")) System.exit(3);
        int total""",
)
PROGRAMS: Mapping[str, tuple[str, str, str, str, str]] = {
    "native": ("work.c", NATIVE, "cc -O1 -g -o work work.c", "./work", "mix"),
    "python": ("work.py", PYTHON, "true", "python3 work.py", "work:mix"),
    "node": ("work.js", NODE, "true", "node work.js", "work:mix"),
    "jvm": ("Work.java", JAVA, "javac Work.java", "java Work", "Work.mix"),
}


@pytest.mark.parametrize("runtime", list(PROGRAMS))
def test_the_method_that_takes_the_time_is_found_and_timed(
    engine: Engine, tmp_path: Path, runtime: str
) -> None:
    told, _ = profiled(engine, tmp_path, runtime, *PROGRAMS[runtime])
    assert told["share"] > 0.2 and told["calls"] > 0, told


def test_pythons_own_monitoring_times_single_calls(engine: Engine, tmp_path: Path) -> None:
    told, said = profiled(engine, tmp_path, "python", *PROGRAMS["python"])
    assert told["calls"] == 200, told
    assert "suspects" in said.splitlines()[-1], said


def test_the_jvm_itself_times_methods_of_a_program_that_stands_no_agent(
    engine: Engine, tmp_path: Path
) -> None:
    file, _, *rest = PROGRAMS["jvm"]
    told, _ = profiled(engine, tmp_path, "jvm", file, WARY, *rest)
    assert told["fine"] == "Java method timing" and told["calls"] == 200, told


def profiled(
    engine: Engine, tmp_path: Path, runtime: str, file: str, text: str, build: str, run: str, method: str
) -> tuple[dict[str, Any], str]:
    """What `profile_here.py` tells, and what the program's trials wrote to scratch/tools."""
    (tmp_path / file).write_text(text)
    (tmp_path / "profile_here.py").write_bytes((ROOT / "tests/container/profile_here.py").read_bytes())
    script = (
        f"cp -r /given /tmp/tree; chmod 755 /tmp/tree; cd /tmp/tree; {build};"
        f" /opt/suspects/venv/bin/python profile_here.py {runtime} /tmp/tree {method} {run};"
        " cat scratch/tools >&2 || true"
    )
    done = engine.start("-ec", script, entrypoint=["/bin/sh"], mounts={tmp_path: "/given"})
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told, done.stderr
