"""Finds out, by reading only, what `init` can write down about a stranger's repository."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.builds.build_systems import Recipe, read, recognise

MAX_PAGES = 60
"""Pages of documentation that are read."""
MAX_OPTIONS = 8
"""Enough to start with: a person adds the others."""
NOT_MEASURED = frozenset(
    {
        "color",
        "colour",
        "config",
        "debug",
        "dry-run",
        "file",
        "force",
        "help",
        "input",
        "interactive",
        "license",
        "list",
        "watch",
    }
    | {"log-level", "output", "quiet", "silent", "usage", "verbose", "version", "yes"}  # talk, or end a run
    | {
        "global",
        "prefix",
        "recurse-submodules",
        "recursive",
        "save",
        "save-dev",
        "user",
    }  # of installers and git
    | {"false", "null", "options", "true", "workload"}  # mean something else in the file
)
"""Options that are documented but not worth a trial."""

# An option where documentation defines one: at a line's start, behind list marks, quotes, man page
# macros or its short form; what follows tells whether it takes a value (`--indent int   ...` is Go's way).
_DEFINITION = re.compile(
    r"""^[ \t]*(?:[-*+|][ \t]+)?(?:(?P<italic>\.[BR]I[ \t]+)|\.(?:B|BR|RB|IP|OP)[ \t]+)?["'`*]*
        (?:-[A-Za-z0-9?]["'`*]*[ \t]*["']?[,|/][ \t]*["'`*]*[ \t]*["'`*]*)?
        --(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?![A-Za-z0-9-])
        (?P<value>["'`*]*[ \t]*\[?=|[ \t]+[<\[{]|[ \t]+[A-Z][A-Z_]+\b
            |[ \t](?:u?int|float|string|duration|bytes)[a-zA-Z0-9]*[ \t]{2}
            |[ \t]{2,}[^\n]*\[(?:default:?[ ])?(?:[0-9]+|"[^"\n]*"|'[^'\n]*')\][ \t]*$  # a default
            |(?(italic)["']?[ \t]+["']?[ \t]*[A-Za-z0-9<\[{]))?""",  # what .BI and .RI set apart is a value
    re.VERBOSE | re.MULTILINE,
)
# ... or in a synopsis: [--name], [-n | --name], [--name=VALUE].
_SYNOPSIS = re.compile(
    r"""\[(?:-[A-Za-z0-9][ \t]*[|,/][ \t]*)?
        --(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)(?P<value>[ \t]*[^\]\s|/][^\]]*)?\]""",
    re.VERBOSE,
)
_MENTION = re.compile(r"--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)")
_FONT = re.compile(r"\\f[BIRP]")
# Man pages set a value in the option's own bold words (`\fB--arg name value\fR`) or behind them in italics.
_BOLD_VALUE = re.compile(r"(\\fB[^\\\n]*--[a-z0-9-]+)[ \t]+([A-Za-z][^\\\n]*)(?=\\f[RP])")
_ITALIC_VALUE = re.compile(r"(--[a-z0-9-]+)(?:\\f[RP])?[ \t]*(?:\\fR)?[ \t]*\\fI([^\\\n]+)")
_PAGES = ("README*", "cmd/*/README*", "*.1", "*/*.1", "man/*.md", "doc/*.md", "docs/*.md", "docs/*.rst")


@dataclass(frozen=True)
class FoundOption:
    """A switch (name in the file, argument) and the page and line that define it."""

    name: str
    flag: str
    place: str


@dataclass(frozen=True)
class Found:
    """What a repository looks like."""

    recipe: Recipe
    options: tuple[FoundOption, ...] = ()


def scout(root: Path) -> Found:
    """Looks at a repository's files; nothing in it is executed."""
    return Found(recognise(root), documented_switches(root))


def documented_switches(root: Path) -> tuple[FoundOption, ...]:
    """Options without a value that the documentation defines, the most often mentioned first."""
    first: dict[str, str] = {}
    mentions: Counter[str] = Counter()
    with_value: set[str] = set()
    for page in _pages(root):
        text = _plain(read(page))
        for match in (*_DEFINITION.finditer(text), *_SYNOPSIS.finditer(text)):
            line = text.count("\n", 0, match.start("name")) + 1
            first.setdefault(match["name"], f"{page.relative_to(root).as_posix()}:{line}")
            if match["value"]:
                with_value.add(match["name"])
        mentions.update(_MENTION.findall(text))
    switches = [n for n in first if n not in with_value | NOT_MEASURED and not n.startswith("no-")]
    switches.sort(key=lambda name: -mentions[name])
    return tuple(FoundOption(n.replace("-", "_"), f"--{n}", first[n]) for n in switches[:MAX_OPTIONS])


def _plain(text: str) -> str:
    """Without a man page's fonts and its way of minus signs; a value that only fonts set apart is in `<>`."""
    text = text.replace("\\-", "-")
    for value in (_BOLD_VALUE, _ITALIC_VALUE):
        text = value.sub(r"\1 <\2>", text)
    return _FONT.sub("", text)


def _pages(root: Path) -> list[Path]:
    pages = (page for pattern in _PAGES for page in sorted(root.glob(pattern)))
    # A name with a line break could write lines of its own into the file.
    return [page for page in pages if page.is_file() and page.name.isprintable()][:MAX_PAGES]
