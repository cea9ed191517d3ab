"""Regressions that are induced: programs whose parameter decides which part of the machine they need.

python -m benchmarks.resources.induced [--repetitions 5]

Each program is built and run at three parameters, in turn; results/induced.md has the median CPU seconds, and
what the kernel counts. The first parameter is a program without the need, so there are two regressions each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.model.resources import Feature

PROGRAMS = Path(__file__).parent / "programs"
RESULTS = Path(__file__).parent / "results" / "induced.md"


@dataclass(frozen=True)
class Kind:
    """work: rounds. parameters: without the need, with it, with more. feature: what grows with them."""

    work: int
    parameters: tuple[int, int, int]
    feature: Feature


KINDS: Mapping[str, Kind] = {
    "allocations": Kind(1000, (0, 128, 256), "vm"),
    "branches": Kind(20_000, (0, 50, 100), "branch"),
    "calls": Kind(2000, (0, 250, 500), "syscall-other"),
    "copies": Kind(1000, (0, 1024, 8192), "memory"),
    "files": Kind(1000, (0, 10, 20), "filesystem"),
    "matrix": Kind(4, (8, 0, 256), "cache"),
    "pages": Kind(2000, (0, 50, 100), "vm"),
    "pipes": Kind(2000, (0, 32_768, 65_536), "ipc"),
    "pointer_chase": Kind(20_000, (16, 1024, 65_536), "memory"),
    "sockets": Kind(2000, (0, 10, 25), "network"),
    "sorting": Kind(2000, (0, 10_000, 1_000_000), "cpu"),
    "stream_additions": Kind(10, (1, 10, 30), "cpu"),
    "syncs": Kind(500, (0, 2, 4), "blocked"),
}


@dataclass(frozen=True)
class Cost:
    """Of one run: CPU seconds in the program and in the kernel, page faults, voluntary switches."""

    user: float
    kernel: float
    faults: int
    waits: int


def build(folder: Path) -> dict[str, Path]:
    """Compiles all programs; the path of each.

    Raises:
        CalledProcessError: the compiler refuses one.
    """
    found = {}
    for source in sorted(PROGRAMS.glob("*.c")):
        found[source.stem] = folder / source.stem
        flags = ["-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["cc", *flags, "-o", str(found[source.stem]), str(source)], check=True)
    return found


def run(program: Path, work: int, parameter: int) -> Cost:
    """One run, in the folder of the program.

    Raises:
        CalledProcessError: it failed.
    """
    words = [str(program), str(work), str(parameter)]
    with subprocess.Popen(words, cwd=program.parent, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    return Cost(used.ru_utime, used.ru_stime, used.ru_minflt, used.ru_nvcsw)


def table(repetitions: int) -> list[str]:
    lines = [
        "| program | needs | parameter | CPU s | ratio | in the kernel | page faults | waits |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder))
        for name, kind in KINDS.items():
            found: dict[int, list[Cost]] = {parameter: [] for parameter in kind.parameters}
            for _ in range(repetitions):
                for parameter, costs in found.items():
                    costs.append(run(built[name], kind.work, parameter))
            base = np.median([c.user + c.kernel for c in found[kind.parameters[0]]])
            for parameter, costs in found.items():
                cpu = np.median([c.user + c.kernel for c in costs])
                kernel = np.median([c.kernel / max(c.user + c.kernel, 1e-9) for c in costs])
                cells = [
                    *(name, kind.feature, f"{parameter:,}", f"{cpu:.3f}", f"{cpu / base:.2f}"),
                    *(f"{100 * kernel:.0f} %", f"{costs[0].faults:,}", f"{costs[0].waits:,}"),
                ]
                lines.append(f"| {' | '.join(cells)} |")
    return lines


def main(write: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    chosen = parser.parse_args()
    head = "# Induced regressions: what a parameter costs"
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text("\n".join([head, "", *table(chosen.repetitions), ""]), encoding="utf-8")
    write(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
