"""The Java that profiling needs: where it is, and our agent and reader, compiled once a run."""

from __future__ import annotations

import io
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bot.adapters.processes.process import PATH, run_trusted
from bot.model.profiles import Target

HERE = Path(__file__).resolve().parent
OLDEST = 11
"""The first version with flight recordings for everybody."""
BRIEF = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of our own JVMs: they end before good code and many collectors pay, and take a third as long."""
COMPILING = tuple(f"-J{option}" for option in BRIEF)
"""The same, as `javac` takes them."""
AGENT = "agent.jar"
_INSTALLED = Path("/usr/lib/jvm")
_VERSION = re.compile(r'version "(?:1\.)?(\d{1,3})')
_MANIFEST = "Manifest-Version: 1.0\nPremain-Class: suspects.Agent\n\n"


def runtime(target: Target) -> Path | None:
    """The Java that the target most likely runs on: its first word, its JAVA_HOME, the one on its PATH."""
    first, search = target.words[0], target.env.get("PATH", PATH)
    if Path(first).name == "java":
        found = shutil.which(first, path=search) if "/" not in first else str(target.cwd / first)
        return Path(found) if found else None
    home = target.env.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return Path(home) / "bin" / "java"
    found = shutil.which("java", path=search)
    return Path(found) if found else None


def compiler(target: Target) -> Path | None:
    """A `javac` of the machine that we may run ourselves: beside the runtime, on the PATH, or installed."""
    for candidate in _candidates(target):
        path = candidate.resolve()
        ours = path.is_file() and path.stat().st_uid in (0, os.geteuid())
        if ours and os.access(path, os.X_OK) and not path.is_relative_to(target.root.resolve()):
            return path
    return None


def _candidates(target: Target) -> Iterator[Path]:
    java = runtime(target)
    if java:
        yield java.resolve().with_name("javac")
    found = shutil.which("javac", path=PATH)
    if found:
        yield Path(found)
    yield from sorted(_INSTALLED.glob("*/bin/javac"))


def what_is_missing(target: Target, *, oldest: int = OLDEST) -> list[str]:
    """What profiling this program needs and does not find, one sentence each; `oldest`: Java it must have."""
    java = runtime(target)
    if java is None:
        return ["There is no `java` for trials, which JVM programs are profiled with (PATH, or JAVA_HOME)."]
    javac = compiler(target)
    if javac is None:
        return [
            "There is no `javac`: the profilers of JVM programs are compiled where they run (install a JDK)."
        ]
    return [
        f"Java {number} ({what}) is too old to profile JVM programs like this: {least} or newer is needed."
        for what, program, least in (
            ("of the program", java, oldest),
            ("of the compiler", javac.with_name("java"), OLDEST),
        )
        if (number := _version(program, target)) is not None and number < least
    ]


def _version(java: Path, target: Target) -> int | None:
    """The major version; None: not known. A Java in the checkout is the subject's code, not run as us."""
    if java.resolve().is_relative_to(target.root.resolve()) or not java.exists():
        return None
    said = run_trusted([str(java), "-version"])
    found = _VERSION.search(f"{said.output.decode('utf-8', 'replace')}{said.error}")
    return int(found[1]) if found else None


@cache
def agent_jar(javac: Path) -> bytes:
    """Our agent and reader, compiled.

    Raises:
        OSError: the compiler failed; the text has its last words.
    """
    with tempfile.TemporaryDirectory(prefix="suspects-javac-") as folder:
        sources = sorted(str(path) for path in (HERE / "java" / "suspects").glob("*.java"))
        ended = run_trusted([str(javac), *COMPILING, "--release", str(OLDEST), "-d", folder, *sources])
        if ended.code:
            raise OSError(0, f"`javac` could not compile the agent: {ended.error.strip()[-300:]}")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as jar:
            jar.writestr("META-INF/MANIFEST.MF", _MANIFEST)
            for path in sorted(Path(folder).rglob("*.class")):
                jar.write(path, path.relative_to(folder).as_posix())
        return packed.getvalue()


def quoted(option: str) -> str:
    """An option as JAVA_TOOL_OPTIONS wants one that may hold spaces; a quote in it ends and begins anew."""
    return "'" + option.replace("'", "'\"'\"'") + "'"
