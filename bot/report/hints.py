"""What a reader can do about a failure whose cause shows, and about a budget that is too small."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from bot.model.profiles import Method, stripped
from bot.model.report import Report
from bot.model.report_methods import ComparedProfile, FlameNode, MethodSuspect
from bot.model.trials import noisy_table
from bot.report.formats import Prose, code, prose, seconds

_CLOSED = re.compile(r"permission ?denied|access ?denied|not permitted|EACCES|EPERM", re.IGNORECASE)
_TEMPORARY = re.compile(r"(?<![\w./-])(/(?:var/)?tmp)/(?!suspects-)")
_NOT_STARTED = re.compile("permission denied for .*: it must be readable", re.IGNORECASE)
_JAVA = "TempFile"
"""In a Java program's trace, which does not name the folder."""
FEW_SAMPLES = 1000
"""With fewer, a method that has a tenth of the time is off by more than a tenth of that. Arbitrary."""
MOSTLY = 0.5
"""Of a run's time, in code without names of one file: that is the program, not a library. Arbitrary."""
_SILENT = re.compile(r"(?:base and head: )?exit code (\d+)")
_FOUND = re.compile(r"(?:base and head: )?exit code 1: ")
_MISSING = re.compile(
    r"no such file|not found|ENOENT|can't find|not (?:find|open|resolve)|does not exist", re.IGNORECASE
)
_WANTING = re.compile(r"\b(?:requires?|required|needs?|needed|must|missing|specify|usage)\b", re.IGNORECASE)
_LACKING = re.compile(
    r"cannot find (?:module|package) '([^'./][^']*)'|no module named '?([\w.]+)"
    r"|(?:ClassNotFoundException|NoClassDefFoundError): ([\w./$]+)|loading shared libraries: ([^:\s]+):",
    re.IGNORECASE,
)
"""What Node, Python, Java and the dynamic linker do not find; a relative name is a file's."""

COMMANDS = "where comment commands are installed"


def remedy(reasons: Iterable[str]) -> tuple[str, str] | None:
    """A folder that the sandbox kept closed, as it seems, and the key of the configuration that opens it."""
    for reason in reasons:
        if _CLOSED.search(reason) and ((found := _TEMPORARY.search(reason)) or _JAVA in reason):
            return (found[1] if found else "/tmp"), "program.writable"  # noqa: S108  a text for people
    return None


def silent_exit(reason: str) -> int | None:
    """The exit code of a program that ended so without a word on every side: it may be no error."""
    found = _SILENT.fullmatch(reason.strip().rstrip("."))
    return int(found[1]) if found else None


def found_something(reason: str) -> bool:
    """Whether a program ended with exit code 1 and some words, as a linter does that found something."""
    return _FOUND.match(reason) is not None and lacking([reason]) is None


def lacking(reasons: Iterable[str]) -> str | None:
    """The module or library that a program does not find where trials run."""
    found = (_LACKING.search(reason) for reason in reasons)
    return next((next(filter(None, match.groups())) for match in found if match), None)


def wants_an_option(reason: str) -> bool:
    """Whether a program seems to have ended because none of some options was given."""
    return _WANTING.search(reason) is not None


def closed_elsewhere(reason: str) -> bool:
    """Whether a trial was refused something, other than its own start, that no key opens."""
    return remedy([reason]) is None and _CLOSED.search(_NOT_STARTED.sub("", reason)) is not None


def opening_for(failures: Sequence[str]) -> Prose | None:
    """What to do about what the sandbox kept closed to trials; None: that is not why they failed."""
    if (found := opening(failures)) is not None or not any(map(closed_elsewhere, failures)):
        return found
    return prose(
        "if the program was to write a file there, have ", code("run"), " name one in ", code("{scratch}"),
        ": the sandbox lets trials write nowhere else.",
    )  # fmt: skip


def installing(failures: Iterable[str]) -> Prose | None:
    """What to do about a module that trials do not find; None: that is not why they failed."""
    if (name := lacking(failures)) is None:
        return None
    return prose(
        "have ", code("build"), " install ", code(name), " in the checkout, as ", code("npm ci"), " or ",
        code("pip install --target"), " does: trials see nothing that lies in a home or in another checkout.",
    )  # fmt: skip


def opening(reasons: Iterable[str]) -> Prose | None:
    """What to do about a folder that the sandbox kept closed; None: that is not why it failed."""
    if (found := remedy(reasons)) is None:
        return None
    folder, key = found
    return prose(
        "let the program use ", code("TMPDIR"), ", or list ", code(folder), " under ", code(key),
        " in ", code(".github/suspects.yml"), ": the sandbox keeps it closed.",
    )  # fmt: skip


def longer(wanted: float) -> str:
    """What to do about a budget that holds too few configurations; wanted: seconds of one that does not."""
    whole = seconds(60.0 * math.ceil(wanted / 60.0))
    return (
        "That is few to tell options apart, and only large changes would be seen: a smaller workload "
        f"makes room, or about {whole} of budget (budget.pull_request, or --budget)."
    )


def misses_neighbours(reasons: Iterable[str]) -> bool:
    """Whether something was not there, which may be what the input is used to lie beside."""
    return any(_MISSING.search(reason) for reason in reasons)


def nobody_to_blame(profiles: Sequence[ComparedProfile]) -> tuple[str, str]:
    """A title, and why no method of profiled configurations is blamed."""
    if _without_names(profile.flame for profile in profiles):
        return "Methods: the program has no names", (
            "Nearly all of its time went in code without names: it is stripped, and no method can be told "
            "from the others. A build that is not stripped (no strip, no -s) tells which one it is."
        )
    most = max((profile.samples or 0 for profile in profiles), default=0)
    short = 0 < most < FEW_SAMPLES
    return "Methods: none stands out", (
        "In no flagged configuration did the own cost of a method move beyond the noise of its profiles: "
        + (f"they are short ({most} samples, and a larger --budget has room for more), " if short else "")
        + ("or " if short else "")
        + "the change is spread over many methods, or lies in what the profiler cannot see."
    )


def is_the_program(method: MethodSuspect, profile: ComparedProfile | None) -> bool:
    """Whether it is all of a program without names: that most of its time goes there says nothing."""
    if profile is None or not Method(method.method).nameless:
        return False
    roots = [node for node in profile.flame if node.parent < 0]
    whole = sum(max(node.base, node.head) for node in roots)
    return max(method.base_self_seconds, method.head_self_seconds) >= MOSTLY * whole > 0.0


def _without_names(flames: Iterable[Sequence[FlameNode]]) -> bool:
    """Whether nearly all time of all profiles went in code without names."""
    seen = False
    for flame in flames:
        own: dict[str, float] = {}
        for node in flame:
            own[node.method] = own.get(node.method, 0.0) + node.head
            if node.parent >= 0:
                own[flame[node.parent].method] -= node.head
        if not stripped((Method(name), seconds) for name, seconds in own.items()):
            return False
        seen = True
    return seen


def more_time(report: Report, why: str) -> Prose:
    """How to get a clear answer: by more time, or of a table's noisy values by more of them."""
    if noisy_table(report.notes):
        return prose(
            why, "put more values of each configuration and revision into the table (repeated rows)."
        )
    return prose(
        why, "give it more time: comment ", code("/suspects rerun 10m"), f" ({COMMANDS}), or raise ",
        code("budget"), ".",
    )  # fmt: skip
