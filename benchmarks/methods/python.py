"""Python programs with planted slow-downs: Markdown, sqlparse, jsbeautifier and python-minifier from PyPI."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks.methods.cases import EFFECTS, Program, Slowdown
from bot.adapters.profilers.python.coarse import PythonCoarse
from bot.model.profiles import Method

DISTRIBUTIONS = {
    "markdown": ("Markdown==3.11.3",),
    "sqlparse": ("sqlparse==0.6.1",),
    "jsbeautifier": ("jsbeautifier==2.0.3", "editorconfig", "six"),
    "python_minifier": ("python-minifier==3.4.0",),
}
_WORK = {
    "loop": ["for planted in range(AMOUNT):", "    planted = planted * 31 % 1000003"],
    "memory": ["for planted in sorted(planted * 7919 % 10007 for planted in range(AMOUNT)):", "    pass"],
    "text": ["planted = ''.join(str(planted) for planted in range(AMOUNT)).split('7')"],
    "calls": ["import work", "for planted in range(AMOUNT):", "    work.step(planted)"],
}
MAIN = '''"""Runs the program on a file."""

import sys

import {name} as program

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    option = len(sys.argv) > 2
    {code}
'''
CODE = {
    "markdown": "program.markdown(text, extensions=['extra'] if option else ['tables', 'toc'])",
    "sqlparse": "program.format(text, keyword_case='upper', reindent=option)",
    "jsbeautifier": "program.beautify(text, program.BeautifierOptions({'space_in_paren': option}))",
    "python_minifier": "program.minify(text, rename_globals=option)",
}
WORK = '''"""What planted work calls; it is there in every build."""


def step(n):
    x = n
    for i in range(40):
        x = x * 31 % 1000003
    return x
'''


class Python:
    """The interpreter that runs this, on sources in the program's own folder."""

    name = "python"
    programs = (
        Program("markdown", (sys.executable, "run_markdown.py", "input"), ("--extra",)),
        Program("sqlparse", (sys.executable, "run_sqlparse.py", "input"), ("--reindent",)),
        Program("jsbeautifier", (sys.executable, "run_jsbeautifier.py", "input"), ("--space-in-paren",)),
        Program(
            "python_minifier", (sys.executable, "run_python_minifier.py", "input"), ("--rename-globals",)
        ),
    )
    kinds = tuple(_WORK)
    prepared = frozenset({"calls"})
    profiler = PythonCoarse()
    effects = EFFECTS

    def install(self, folder: Path) -> None:
        """Downloads the distributions into a folder for each program, and writes inputs."""
        for program in self.programs:
            root = folder / program.name
            root.mkdir(parents=True)
            words = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--no-compile",
                "--target",
            ]
            subprocess.run([*words, str(root), *DISTRIBUTIONS[program.name]], check=True, timeout=300)
            main = MAIN.replace("{name}", program.name).replace("{code}", CODE[program.name])
            (root / program.words[1]).write_text(main, encoding="utf-8")
            (root / "work.py").write_text(WORK, encoding="utf-8")
            (root / "input").write_text(_INPUTS[program.name](root), encoding="utf-8")
            self.build(root, program)

    def build(self, root: Path, program: Program) -> None:  # noqa: ARG002
        """Compiles as an installation does."""
        words = [sys.executable, "-m", "compileall", "-q", str(root)]
        subprocess.run(words, check=True, timeout=60)

    def plant(self, root: Path, method: Method, work: Slowdown) -> frozenset[str]:
        """Before the first statement of the body; what it counts with is an attribute of a module of ours."""
        lines = [line.replace("AMOUNT", str(work.amount)) for line in _WORK[work.kind]]
        code = [
            "import sys as planted_sys",
            "planted_every = planted_sys.__dict__.setdefault('planted', [0])",
        ]
        code += ["planted_every[0] += 1", f"if planted_every[0] % {work.every} == 0:"]
        if work.only:
            code[-1] = f"{code[-1][:-1]} and '{work.only}' in planted_sys.argv:"
        _insert(root, method, [*code, *(f"    {line}" for line in lines)])
        return frozenset()

    def decoy(self, root: Path, method: Method) -> None:
        """An empty statement."""
        _insert(root, method, ["pass"])


def _insert(root: Path, method: Method, code: list[str]) -> None:
    assert method.file is not None and method.line is not None
    file = root / method.file
    text = file.read_text(encoding="utf-8")
    name = method.name.rpartition(":")[2].rpartition(".")[2]
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef) or node.name != name:
            continue
        begins = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if not begins <= method.line <= node.lineno or node.body[0].lineno == node.lineno:
            continue
        documented = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        if documented and len(node.body) == 1:
            continue
        first = node.body[1 if documented else 0]
        at = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))]) - 1
        lines = text.split("\n")
        indent = " " * first.col_offset
        file.write_text(
            "\n".join([*lines[:at], *(indent + line for line in code), *lines[at:]]), encoding="utf-8"
        )
        return
    raise ValueError("no such function")


def _words(rng: np.random.Generator, count: int) -> str:
    letters = list("etaoinshrdlu")
    return " ".join("".join(rng.choice(letters, rng.integers(2, 9))) for _ in range(count))


def _markdown(root: Path) -> str:  # noqa: ARG001
    rng = np.random.default_rng(1)
    parts = []
    for number in range(170):
        parts += [f"## {_words(rng, 3)}", f"{_words(rng, 20)} **{_words(rng, 2)}** `{_words(rng, 1)}` *a* "]
        parts += [f"[{_words(rng, 2)}](http://a.example/{number}) {_words(rng, 20)}\n> {_words(rng, 9)}"]
        parts += ["\n".join(f"{'  ' * (i % 2)}* {_words(rng, 5)}" for i in range(6))]
        parts += ["| a | b |\n|---|---|\n" + "\n".join(f"| {_words(rng, 2)} | *c* |" for _ in range(5))]
        parts += [f"    code {_words(rng, 6)}", f"{_words(rng, 3)}\n:   {_words(rng, 9)}", "* * *"]
    return "\n\n".join(parts)


def _sql(root: Path) -> str:  # noqa: ARG001
    rng = np.random.default_rng(2)
    return "\n".join(
        f"select t{i}.a, count(*) as n, case when b > {i} then 'x' else lower(c) end from t{i} "
        f"left join u on t{i}.id = u.id where (d in (1, {i}) and e like '%{_words(rng, 1)}%') "
        f"or f is not null -- {i}\n"
        f"group by a, b having n > 3 order by a desc; insert into v{i} (a, b) values ({i}, 'y');"
        for i in range(110)
    )


def _script(root: Path) -> str:  # noqa: ARG001
    rng = np.random.default_rng(3)
    return "\n".join(
        f"function f{i}(a,b){{var c=[1,2,{{x:a,y:'{_words(rng, 1)}'}}];if(a>{i}&&b!==null){{"
        f"for(var i=0;i<c.length;i++){{c[i]=a?b[i]:/re{i}+/g.test(b)}}}}else{{switch(b){{case 1:return c;"
        f"default:a+=b}}}}/* {_words(rng, 3)} */"
        f"try{{g(function(d){{return d*{i}}})}}catch(e){{throw new Error('e')}}}}"
        for i in range(220)
    )


def _module(root: Path) -> str:
    files = sorted((root / "python_minifier").rglob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in files]
    return "\n".join(text for text in texts[::2] if "__future__" not in text)


_INPUTS = {"markdown": _markdown, "sqlparse": _sql, "jsbeautifier": _script, "python_minifier": _module}
RUNTIME = Python()
