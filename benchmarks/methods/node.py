"""Node programs with planted slow-downs: terser, and html-minifier-terser, which uses it and clean-css."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.methods.braces import body
from benchmarks.methods.cases import EFFECTS, Program, Slowdown
from benchmarks.methods.pages import write_page
from bot.adapters.profilers.node.preloading import HERE
from bot.adapters.profilers.node.sampler import NodeSampler
from bot.model.profiles import Method

PACKAGES = {
    "terser": ("terser@5.51.2", "commander@10.0.1"),
    "html-minifier": ("html-minifier-terser@7.2.0",),
}
_MAIN = """
import fs from "fs"; import path from "path"; import { createRequire } from "module";
import { _run_cli } from "./node_modules/terser/main.js";
const load = createRequire(import.meta.url);
const program = createRequire(load.resolve("terser"))("commander");
_run_cli({ program, packageJson: load("terser/package.json"), fs, path });
"""
"""What terser's own command does, with its sources in place of the bundle made of them."""

_WORK = {
    "loop": "let x = p.x; for (let i = 0; i < AMOUNT; i++) x = (x * 31 + i) & 0xfffffff; p.x = x;",
    "allocation": "const a = []; for (let i = 0; i < AMOUNT; i++) a.push({ i, last: a.length }); p.kept = a;",
    "text": "let t = ''; for (let i = 0; i < AMOUNT; i++) t += String.fromCharCode(97 + i % 26);"
    " p.x = t.split('e').length;",
    "calls": "for (let i = 0; i < AMOUNT; i++) p.x = workStep(p.x, 30);",
    "helper": "p.x = workStep(p.x, AMOUNT);",
}
_STEP = "\nfunction workStep(x, n) { for (let i = 0; i < n; i++) x = (x * 31 + i) & 0xfffffff; return x; }\n"


class Node:
    """JavaScript modules, run by the node on the PATH."""

    name = "node"
    programs = (
        Program("terser", ("node", "terser.mjs", "input.js", "-c"), ("-m",)),
        Program(
            "html-minifier",
            ("node", "node_modules/html-minifier-terser/cli.js", "--collapse-whitespace", "input.html"),
            ("--minify-css=true", "--sort-attributes"),
        ),
    )
    kinds = tuple(_WORK)
    prepared = frozenset({"calls"})
    profiler = NodeSampler()
    effects = EFFECTS

    def install(self, folder: Path) -> None:
        """Fetches the packages and writes the inputs."""
        for program in self.programs:
            root = folder / program.name
            root.mkdir(parents=True)
            npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(root)]
            subprocess.run([*npm, *PACKAGES[program.name]], check=True, timeout=300)
        (folder / "terser/terser.mjs").write_text(_MAIN, encoding="utf-8")
        shutil.copy(folder / "terser/node_modules/commander/lib/command.js", folder / "terser/input.js")
        write_page(folder / "html-minifier/input.html")

    def build(self, root: Path, program: Program) -> None:
        """Nothing is to be built."""

    def plant(self, root: Path, method: Method, work: Slowdown) -> frozenset[str]:
        """On the line where the body begins; functions that it calls at the end of the file."""
        gate = f"(p.given ??= process.argv.includes({work.only!r})) && " if work.only else ""
        code = _WORK[work.kind].replace("AMOUNT", str(work.amount))
        count = "const p = (globalThis.planted ??= { calls: 0, x: 1 });"
        file = _insert(root, method, f"{{ {count} if ({gate}++p.calls % {work.every} === 0) {{ {code} }} }}")
        if "workStep" not in code:
            return frozenset()
        with file.open("a", encoding="utf-8") as end:
            end.write(_STEP)
        return frozenset({f"{method.name.partition(':')[0]}:workStep"} if work.kind == "helper" else ())

    def decoy(self, root: Path, method: Method) -> None:
        """An empty statement."""
        _insert(root, method, "void 0;")


def _insert(root: Path, method: Method, code: str) -> Path:
    assert method.file is not None
    file = root / method.file
    text = file.read_text(encoding="utf-8")
    at = body(text, _parameters(file, method))
    file.write_text(f"{text[:at]} {code} {text[at:]}", encoding="utf-8")
    return file


def _parameters(file: Path, method: Method) -> int:
    """Offset at which the parameters of a function begin."""
    with tempfile.TemporaryDirectory(prefix="planting-") as folder:
        asked, answer = Path(folder, "asked"), Path(folder, "answer")
        asked.write_text(json.dumps([str(file)]), encoding="utf-8")
        words = ["node", "--expose-internals", str(HERE / "names.cjs"), str(asked), str(answer)]
        subprocess.run(words, check=True, timeout=60)
        _, functions = json.loads(answer.read_text(encoding="utf-8"))
    for name, _, start, _, line, _ in functions:
        if name == method.name.partition(":")[2] and line + 1 == method.line:
            return int(start)
    raise ValueError("not found")


RUNTIME = Node()
