"""Real programs for A/A runs: how each is fetched, its options and its input."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.model.subject import (
    ChoiceOption,
    FlagOption,
    NumberOption,
    Program,
    Subject,
    SubjectOption,
    Workload,
)


@dataclass(frozen=True)
class Real:
    """A program: how to put it into a side's folder, its subject, its input, and its version's command."""

    fetch: Callable[[Path], None]
    subject: Subject
    write_input: Callable[[Path], None]
    version: tuple[str, ...]


def _subject(run: str, runtime: str, options: Mapping[str, SubjectOption], path: str) -> Subject:
    program = Program.model_validate({"run": run, "runtime": runtime, "env": {"LC_ALL": "C"}})
    return Subject(program=program, workloads={"input": Workload(path=path)}, options=dict(options))


def _words(rng: np.random.Generator, count: int) -> list[str]:
    """Text with the frequencies of a language: few words often, many rarely."""
    letters = list("etaoinshrdlucmfwypvbgkqjxz")
    lexicon = ["".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(4000)]
    rank = np.minimum(rng.zipf(1.3, count), len(lexicon)) - 1
    return [lexicon[i] for i in rank]


def _text(path: Path, count: int) -> None:
    words = _words(np.random.default_rng(1), count)
    path.write_text("\n".join(" ".join(words[i : i + 12]) for i in range(0, count, 12)))


def _markdown(path: Path) -> None:
    rng = np.random.default_rng(2)
    words = _words(rng, 9000)
    blocks = []
    for i in range(0, len(words) - 60, 60):
        part = words[i : i + 60]
        blocks += [
            f"{'#' * int(rng.integers(1, 5))} {part[0]} {part[1]}",
            " ".join(part[2:20])
            + f" **{part[20]}** *{part[21]}* [{part[22]}](https://example.org/{part[23]})",
            "\n".join(f"* {word} `{word}`" for word in part[24:30]),
            f"{part[30]} | {part[31]}\n--- | ---\n" + "\n".join(f"{a} | {a}" for a in part[32:36]),
            f"    {part[40]} = {part[41]}",
            f"{part[42]}[^{i}]\n\n[^{i}]: {part[43]}",
        ]
    path.write_text("\n\n".join(blocks))


def _javascript(path: Path) -> None:
    words = list(dict.fromkeys(_words(np.random.default_rng(3), 3000)))
    lines = [
        f"function f_{w}(a_{w}, b) {{ var c = {i}; if (a_{w} > c) {{ return b + c * 2; }} "
        f"for (let k = 0; k < c; k++) {{ b += f_{words[i // 2]}(k, a_{w}) ? 1 : 0; }} "
        f"return [b, '{w}'].length; }}"
        for i, w in enumerate(words[:150])
    ]
    path.write_text("\n".join(lines))


def _copy(command: str) -> Callable[[Path], None]:
    def fetch(folder: Path) -> None:
        found = shutil.which(command)
        assert found is not None, f"{command} is not installed"
        shutil.copy(found, folder / command)

    return fetch


def _pip(*packages: str) -> Callable[[Path], None]:
    def fetch(folder: Path) -> None:
        target = ["--target", str(folder), "--no-compile", *packages]
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *target], check=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], check=False)

    return fetch


def _npm(package: str) -> Callable[[Path], None]:
    def fetch(folder: Path) -> None:
        subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), package], check=True)

    return fetch


def _flags(**flags: str) -> dict[str, SubjectOption]:
    return {name: FlagOption(flag=flag) for name, flag in flags.items()}


_EXTENSIONS = (
    "tables",
    "toc",
    "footnotes",
    "fenced_code",
    "attr_list",
    "def_list",
    "smarty",
    "admonition",
    "abbr",
)

PROGRAMS: Mapping[str, Real] = {
    "xz": Real(
        _copy("xz"),
        _subject(
            "./xz -T1 --stdout --keep {options} {workload}",
            "native",
            {
                "level": NumberOption(number=(0, 1, 2, 3, 5, 6, 9), flag="-{value}"),
                "check": ChoiceOption(
                    choice={"crc64": "--check=crc64", "sha256": "--check=sha256", "none": "-Cnone"}
                ),
                "format": ChoiceOption(choice={"xz": "--format=xz", "lzma": "--format=lzma"}),
                **_flags(extreme="--extreme", no_sparse="--no-sparse", quiet="--quiet", verbose="-v"),
            },
            "text.txt",
        ),
        lambda path: _text(path, 50000),
        ("xz", "--version"),
    ),
    "markdown": Real(
        _pip("Markdown==3.7"),
        _subject(
            "/usr/bin/python3 -m markdown {options} {workload}",
            "python",
            {
                **_flags(**{name: f"-x {name}" for name in _EXTENSIONS}),
                "output": ChoiceOption(choice={"xhtml": "-o xhtml", "html": "-o html"}),
                "lazy": FlagOption(flag="-n"),
            },
            "text.md",
        ),
        _markdown,
        ("/usr/bin/python3", "--version"),
    ),
    "terser": Real(
        _npm("terser@5.16.6"),
        _subject(
            "node node_modules/terser/bin/terser {options} {workload}",
            "node",
            {
                **_flags(compress="--compress", mangle="--mangle", ecma="--ecma 2015", module="--module"),
                **_flags(toplevel="--toplevel", keep_names="--keep-fnames", comments="--comments all"),
                "safari": FlagOption(flag="--safari10"),
            },
            "program.js",
        ),
        _javascript,
        ("node", "--version"),
    ),
}
