"""Finds out, by reading only, what `init` can write down about a stranger's repository."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.builds.build_systems import recognise
from bot.adapters.builds.recipes import Recipe, read

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

_HARMFUL = re.compile(
    r"""(?:delete|remove|rm|unlink|erase|shred|purge|wipe|truncate|clobber|overwrite|move|mv|rename
        |replace|write|fix|update|modify|in-?place)
        |(?:in-?place|overwrite|clobber)-.+|.+-in-?place
        |(?:delete|remove|rm|unlink|erase|overwrite|replace|truncate|modify|move)-(?:.+-)?
         (?:in|inputs?|sources?|src|originals?|orig|files?|before|after|during|delay|excluded)""",
    re.VERBOSE,
)
_SAYS_HARM = re.compile(
    r"""\b(?:in[- ]place\b|overwrit\w+
        |(?:delet|remov|eras|replac|modif|renam)\w*[ ](?:the[ ]|its[ ]|your[ ]|all[ ])?
         (?:inputs?|sources?|originals?)
         (?:[ ]files?\b|(?=[ ]*(?:[.,;:)]|$)|[ ](?:after|once|when|if|on)\b)))""",
    re.VERBOSE | re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:not|never|no|without|instead|keep|prompt|ask|before|\w+n't)\b", re.IGNORECASE)

# An option where documentation defines one: at a line's start, behind list marks, quotes, man page
# macros or its short form; what follows tells whether it takes a value (`--indent int   ...` is Go's way).
_DEFINITION = re.compile(
    r"""^[ \t]*(?:[-*+|][ \t]+)?(?:(?P<italic>\.[BR]I[ \t]+)|\.(?:B|BR|RB|IP|OP)[ \t]+)?["'`*]*
        (?:-[A-Za-z0-9?]["'`*]*[ \t]*["']?[,|/][ \t]*["'`*]*[ \t]*["'`*]*)?
        --(?P<name>[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)(?![A-Za-z0-9_-])
        (?P<value>(?:["'`*]*[ \t]*[,|/][ \t]*["'`*]*-[A-Za-z0-9](?![A-Za-z0-9-]))?  # the short form behind it
            (?:["'`*]*[ \t]*\[?=|[ \t]+[<\[{]|[ \t]+[A-Z][A-Z_]+\b)
            |[ \t](?:u?int|float|string|duration|bytes)[a-zA-Z0-9]*[ \t]{2}
            |[ \t]{2,}[^\n]*\[(?:default:?[ ])?(?:[0-9]+|"[^"\n]*"|'[^'\n]*')\][ \t]*$  # a default
            |(?(italic)["']?[ \t]+["']?[ \t]*[A-Za-z0-9<\[{]))?""",  # what .BI and .RI set apart is a value
    re.VERBOSE | re.MULTILINE,
)
# ... or in a synopsis: [--name], [-n | --name], [--name=VALUE].
_SYNOPSIS = re.compile(
    r"""\[(?:-[A-Za-z0-9][ \t]*[|,/][ \t]*)?
        --(?P<name>[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)(?P<value>[ \t]*[^\]\s|/][^\]]*)?\]""",
    re.VERBOSE,
)
_MENTION = re.compile(r"--([a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)")
_LONG_FONT = re.compile(r"\\f\[([BIRP]?)\]")
_FONT = re.compile(r"\\f[BIRP]")
# Man pages set a value in the option's own bold words (`\fB--arg name value\fR`) or behind them in italics.
_BOLD_VALUE = re.compile(r"(\\fB[^\\\n]*--[a-z0-9_-]+)[ \t]+([A-Za-z][^\\\n]*)(?=\\f[RP])")
_ITALIC_VALUE = re.compile(
    r"(--[a-z0-9_-]+(?:(?:\\f[BRP])*[ \t]*[,|/][ \t]*(?:\\f[BRP])*-[A-Za-z0-9](?![A-Za-z0-9-]))?)"
    r"(?:\\f[RP])?[ \t]*(?:\\fR)?[ \t]*\\fI([^\\\n]+)"
)
_PAGES = (
    "README*",
    "cmd/*/README*",
    "*.1",
    "*/*.1",
    "*/man1/*.1",
    "*.1.*",  # man pages that a build fills in, or that are kept ready: tool.1.in, tool.1.prebuilt
    "man/*.1.*",
    "man/*.md",
    "doc/*.md",
    "docs/*.md",
    "docs/*.rst",
    "*.dist-info/METADATA",
)


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
    harmful: tuple[FoundOption, ...] = ()
    """What deletes or rewrites its input, as it seems: the next trial would read another one."""


def scout(root: Path) -> Found:
    """Looks at a repository's files; nothing in it is executed."""
    kept, harmful = _documented(root)
    return Found(recognise(root), kept[:MAX_OPTIONS], harmful)


def documented_switches(root: Path) -> tuple[FoundOption, ...]:
    """Options without a value that the documentation defines, the most often mentioned first."""
    return _documented(root)[0][:MAX_OPTIONS]


def _documented(root: Path) -> tuple[tuple[FoundOption, ...], tuple[FoundOption, ...]]:
    """Switches of the documentation: those to offer, and those that harm what trials read."""
    first: dict[str, str] = {}
    mentions: Counter[str] = Counter()
    with_value: set[str] = set()
    harmful: set[str] = set()
    for page in _pages(root):
        text = _plain(read(page))
        for match in (*_DEFINITION.finditer(text), *_SYNOPSIS.finditer(text)):
            line = text.count("\n", 0, match.start("name")) + 1
            first.setdefault(match["name"], f"{page.relative_to(root).as_posix()}:{line}")
            if match["value"]:
                with_value.add(match["name"])
            if _harms(match["name"], text[match.end() :]):
                harmful.add(match["name"])
        mentions.update(_MENTION.findall(text))
    switches = [n for n in first if n not in with_value | NOT_MEASURED and not n.startswith(("no-", "list-"))]
    switches.sort(key=lambda name: -mentions[name])
    found = [FoundOption(n.replace("-", "_"), f"--{n}", first[n]) for n in switches]
    kept = tuple(one for one in found if one.flag.removeprefix("--") not in harmful)
    return kept, tuple(one for one in found if one not in kept)


def _harms(name: str, behind: str) -> bool:
    """Whether an option deletes or rewrites its input, by its name or by the first line behind it."""
    told = next((line for line in behind.splitlines() if line.strip(" \t`'\"*:,.")), "")
    if told.lstrip().startswith("-"):  # that is the next option
        told = ""
    says = bool(_SAYS_HARM.search(told)) and not _DENIES.search(told)
    return says or bool(_HARMFUL.fullmatch(name))


def _plain(text: str) -> str:
    """Without a man page's fonts and its way of minus signs; a value that only fonts set apart is in `<>`."""
    text = _LONG_FONT.sub(lambda font: f"\\f{font[1] or 'P'}", text.replace("\\-", "-"))
    for value in (_BOLD_VALUE, _ITALIC_VALUE):
        text = value.sub(r"\1 <\2>", text)
    return _FONT.sub("", text)


def _pages(root: Path) -> list[Path]:
    pages = (page for pattern in _PAGES for page in sorted(root.glob(pattern)))
    # A name with a line break could write lines of its own into the file.
    return [page for page in pages if page.is_file() and page.name.isprintable()][:MAX_PAGES]
