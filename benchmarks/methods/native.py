"""Native programs with planted slow-downs: compressors, from sources in PyPI's source distributions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.methods import braces
from benchmarks.methods.cases import EFFECTS, Program, Slowdown
from bot.adapters.profilers.native.coarse import Coarse
from bot.model.profiles import Method

MAINS = Path(__file__).with_name("c")
SOURCES = {
    "zopfli": ("zopfli==0.2.3", "zopfli/src/zopfli/*.[ch]", "."),
    "brotli": ("brotli==1.1.0", "c/*", "."),
    "lz4": ("lz4==4.3.3", "lz4libs/*.[ch]", "."),
}
"""Distribution, files of it, and where they go."""
OUTSIDE = ("zopfli_bin.c", "fuzz", "tools")
INPUT_BYTES = 1_200_000
LINES_BEFORE, LINES_AFTER = 6, 3
"""Where a function's name may be, seen from the line on which its code begins."""

_WORK = {
    "loop": "unsigned x = s; for (unsigned i = 0; i < AMOUNTu; i++) x = x * 31 + (x >> 7) + i; s = x;",
    "memory": "extern unsigned work_memory[]; unsigned x = s, y = 0; for (unsigned i = 0; i < AMOUNTu; i++)"
    " { x = x * 1664525u + 1013904223u; y += work_memory[x >> 10]; } s = x + (y & 1);",
    "text": "extern int snprintf(char *, unsigned long, const char *, ...); char b[64];"
    ' for (unsigned i = 0; i < AMOUNTu; i++) s += snprintf(b, 64, "%u of %s", s & 4095, "text");',
    "calls": "extern unsigned work_step(unsigned);"
    " for (unsigned i = 0; i < AMOUNTu; i++) s += work_step(40);",
}


class Native:
    """C, compiled by gcc -O2 -g."""

    name = "native"
    programs = (
        Program("zopfli", ("./program", "input"), ("--gzip",)),
        Program("brotli", ("./program", "input"), ("--text",)),
        Program("lz4", ("./program", "input"), ("--higher",)),
    )
    kinds = tuple(_WORK)
    prepared = frozenset({"calls"})
    profiler = Coarse()
    effects = EFFECTS

    def install(self, folder: Path) -> None:
        """Downloads the distributions and compiles the programs."""
        folder.mkdir(parents=True, exist_ok=True)
        for program in self.programs:
            distribution, wanted, _ = SOURCES[program.name]
            root = folder / program.name
            root.mkdir()
            with tempfile.TemporaryDirectory() as place:
                _fetch(distribution, Path(place))
                (unpacked,) = (path for path in Path(place).iterdir() if path.is_dir())
                for path in sorted(unpacked.glob(wanted)):
                    if path.name not in OUTSIDE:
                        (shutil.copytree if path.is_dir() else shutil.copy)(path, root / path.name)
            for name in ("Makefile", "work.c", f"{program.name}.c"):
                shutil.copy(MAINS / name, root / ("main.c" if name == f"{program.name}.c" else name))
        texts = b"".join(path.read_bytes() for path in sorted(folder.glob("brotli/enc/*.[ch]")))
        for program in self.programs:
            (folder / program.name / "input").write_bytes(texts[:INPUT_BYTES])
            self.build(folder / program.name, program)

    def build(self, root: Path, program: Program) -> None:  # noqa: ARG002
        """Compiles what changed."""
        subprocess.run(["make", "-s"], cwd=root, check=True, timeout=300, capture_output=True)

    def plant(self, root: Path, method: Method, work: Slowdown) -> frozenset[str]:
        """On the line where the body begins, so that lines stay what they are."""
        gate = "extern int option_given; if (option_given)" if work.only else ""
        code = _WORK[work.kind].replace("AMOUNT", str(work.amount))
        every = f"static unsigned c; if (++c % {work.every}u == 0)"
        _insert(root, method, f"{{ {gate} {{ {every} {{ static volatile unsigned s; {code} }} }} }}")
        return frozenset()

    def decoy(self, root: Path, method: Method) -> None:
        """An empty statement."""
        _insert(root, method, "(void)0;")


def _insert(root: Path, method: Method, code: str) -> None:
    assert method.file is not None and method.line is not None
    file = root / method.file
    lines = file.read_text(encoding="latin-1").split("\n")
    name = re.compile(rf"(?<!\w){re.escape(method.name)}\s*(?=\()")
    first = max(0, method.line - 1 - LINES_BEFORE)
    begin = sum(len(line) + 1 for line in lines[:first])
    text = "\n".join(lines)
    for match in name.finditer(
        text, begin, begin + sum(map(len, lines[first : method.line + LINES_AFTER])) + 9
    ):
        try:
            at = braces.body(text, match.end())
        except ValueError:
            continue
        file.write_text(f"{text[:at]} {code} {text[at:]}", encoding="latin-1")
        return
    raise ValueError("no body")


def _fetch(distribution: str, place: Path) -> None:
    """A source distribution, unpacked. Its build requirements come with it, as pip wants it."""
    words = ["download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(place), distribution]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, timeout=300)
    (archive,) = place.iterdir()
    shutil.unpack_archive(archive, place)
    archive.unlink()


RUNTIME = Native()
