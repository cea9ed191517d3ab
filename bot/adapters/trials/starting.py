"""What one trial executes at a site: words, environment, working directory and standard input."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.processes.process import PLAIN_ENVIRONMENT
from bot.model.invocation import Invocation
from bot.model.sites import Site
from bot.model.subject import Program, Subject

Place = Callable[[Site, int, Invocation], Path]
"""The folder in which a trial at a site and slot runs, its configuration files in it."""


@dataclass(frozen=True)
class Start:
    """A command as it is executed; env: all the environment it has; stdin: a file, or empty input.

    start and ready: of its server; `{port}` is still in all three.
    """

    words: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    stdin: Path | None
    start: str | None = None
    ready: str | None = None


class Starter:
    """Turns an invocation into what is executed at a site."""

    def __init__(self, subject: Subject, *, pass_env: Mapping[str, str], place: Place | None) -> None:
        assert isinstance(subject.program, Program)
        self._subject, self._program = subject, subject.program
        self._pass_env, self._place = pass_env, place

    def start(self, site: Site, command: Invocation, *, slot: int, scratch: str) -> Start:
        """One trial. `scratch`: its own folder; `slot`: which of those that run at once it is.

        Raises:
            OSError: the working directory could not be made ready.
            UsageError: a template fails for this configuration.
        """
        folder = site.root if self._place is None else self._place(site, slot, command)
        workload = str(site.workloads.get(command.workload or "", ""))
        places = {"{workload}": workload, "{scratch}": scratch}
        words = (_filled(word, places) for word in command.words)
        quoted = {place: shlex.quote(text) for place, text in places.items()}
        server = (text and _filled(text, quoted) for text in (command.start, command.ready))
        plain = {**PLAIN_ENVIRONMENT, "HOME": scratch, "TMPDIR": scratch}
        return Start(
            tuple(words),
            {**plain, **self._pass_env, **command.env},
            folder,
            self._stdin(site, folder, workload),
            *server,
        )

    def _stdin(self, site: Site, folder: Path, workload: str) -> Path | None:
        if self._program.stdin is None:
            return None
        text = self._program.stdin.replace("{workload}", workload)
        for name, declared in self._subject.workloads.items():
            if text in (name, declared.path) and name in site.workloads:
                return site.workloads[name]
        return folder / text


def _filled(text: str, places: Mapping[str, str]) -> str:
    for place, meant in places.items():
        text = text.replace(place, meant)
    return text
