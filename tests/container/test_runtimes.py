"""Methods of each runtime's programs are found and timed in the real image, under Docker's rights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

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
    file, text, build, run, method = PROGRAMS[runtime]
    (tmp_path / file).write_text(text)
    (tmp_path / "profile_here.py").write_bytes((ROOT / "tests/container/profile_here.py").read_bytes())
    script = (
        f"cp -r /given /tmp/tree; chmod 755 /tmp/tree; cd /tmp/tree; {build};"
        f" exec /opt/suspects/venv/bin/python profile_here.py {runtime} /tmp/tree {method} {run}"
    )
    done = engine.start("-ec", script, entrypoint=["/bin/sh"], mounts={tmp_path: "/given"})
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["share"] > 0.2 and told["calls"] > 0, done.stdout
