"""`suspects init`: writes the configuration file and the workflows, from what it finds in a repository."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.model.errors import UsageError

if TYPE_CHECKING:
    from bot.adapters.builds.scout import Found

CONFIG = Path(".github/suspects.yml")
WORKFLOWS = (
    "suspects",
    "suspects-publish",
    "suspects-nightly",
    "suspects-bisect",
    "suspects-commands",
    "suspects-rerun",
)
ON_SEVERAL = ("suspects", "suspects-nightly")
"""Workflows of which there is one that measures on several machines."""
ACTION = "OWNER/suspects@REVISION"
"""Written where the caller does not say which release of the action to use."""
TODO_BUILD = "TODO: the command that builds a fresh checkout (remove the line when there is nothing to build)"
TODO_RUN = "TODO: the command of one trial, such as ./program {options} {workload}"
TODO_WORKLOAD = "TODO: a typical input of your program, such as bench/input.txt"
TODO_OPTION = "TODO: an argument of your program, such as --fast"


@dataclass(frozen=True)
class Initialised:
    """`written` and `kept` (already there): paths below the repository's top. `lines`: for a person."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    lines: tuple[str, ...]


def init(root: Path, *, force: bool = False, action: str = ACTION, shards: int = 1) -> Initialised:
    """Writes `.github/suspects.yml` and the workflows; files that exist are kept unless `force`.

    `action`: what workflows use, "OWNER/suspects@COMMIT # vX". shards: machines that measure at the same
    time. Nothing of the repository is executed.

    Raises:
        UsageError: not a git repository, or a file cannot be written.
    """
    from bot.adapters.builds.scout import scout
    from bot.report.render import plain

    if not (root / ".git").exists():
        error = UsageError(f"{root.resolve()} is not the top of a git repository")
        error.add_note("Change to the repository that is to be measured.")
        raise error
    found = scout(root)
    texts = {CONFIG: configuration(found)}
    for name in WORKFLOWS:
        template = f"workflows/{name}{'-matrix' if shards > 1 and name in ON_SEVERAL else ''}.yml.j2"
        texts[Path(f".github/workflows/{name}.yml")] = plain(template, action=action, shards=shards)
    kept = tuple(path for path in texts if (root / path).exists() and not force)
    written = tuple(path for path in texts if path not in kept)
    for path in written:
        _write(root, path, texts[path])
    lines = [f"Found: {found.recipe.system or 'no build system that is known here'}."]
    lines += [f"Options: {', '.join(o.name for o in found.options) or 'none in the documentation'}."]
    if found.harmful:
        left = ", ".join(o.flag for o in found.harmful)
        lines += [f"Left out, because they seem to delete or rewrite what trials read: {left}."]
    lines += [f"Wrote {path}" for path in written]
    lines += [f"Kept {path} (--force replaces it)" for path in kept]
    return Initialised(written, kept, (*lines, *_next_steps(written, texts[CONFIG], action)))


def configuration(found: Found) -> str:
    """The text of the configuration file; what a person has to say is a value that begins with TODO."""
    from bot.report.render import plain

    recipe = found.recipe
    build = TODO_BUILD if recipe.build is None else recipe.build
    run = TODO_RUN if recipe.run is None else f"{recipe.run} {{options}} {{workload}}"
    options = [(o.name, o.flag, o.place) for o in found.options] or [("example", TODO_OPTION, "")]
    return plain(
        "suspects.yml.j2",
        system=recipe.system,
        runtime=recipe.runtime,
        hint=recipe.hint,
        build=_yaml(build) if build else "",
        network=recipe.network,
        cache=", ".join(map(_yaml, recipe.cache)),
        run=_yaml(run),
        env={name: _yaml(value) for name, value in recipe.env.items()},
        workload=_yaml(TODO_WORKLOAD),
        options=[{"name": n, "flag": _yaml(f), "place": p} for n, f, p in options],
    )


def _yaml(text: str) -> str:
    """A text as a YAML scalar that cannot be read as anything else."""
    return json.dumps(text, ensure_ascii=False)


def _write(root: Path, path: Path, text: str) -> None:
    """Writes a whole file; a symbolic link is not followed out of the repository."""
    target = root / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.resolve().is_relative_to(root.resolve()):
            raise UsageError(f"{path} leads out of the repository; remove the link")
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None


def _next_steps(written: tuple[Path, ...], text: str, action: str) -> Iterator[str]:
    if CONFIG in written:
        todo = [str(n) for n, line in enumerate(text.splitlines(), 1) if '"TODO' in line]
        yield f"Next: fill the TODOs in {CONFIG} (line {', '.join(todo)}), then run `suspects check`."
    else:
        yield "Next: run `suspects check`."
    if action == ACTION and any(path != CONFIG for path in written):
        yield f"In the workflows, replace {ACTION} by a release of the action."
