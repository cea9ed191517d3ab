"""Has the files of a Node program parsed in a process with little time, and reads its answer line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from bot.adapters.profilers.evidence import read_file
from bot.adapters.profilers.launching import launch
from bot.adapters.profilers.node.preloading import HERE, interpreter
from bot.adapters.profilers.reports import MOST_BYTES, tool_folder
from bot.model.profiles import Target

PARSE_SECONDS = 60.0
T = TypeVar("T")


def ask_parser(target: Target, script: str, question: object) -> tuple[Path, tuple[str, ...]]:
    """Runs `script` (a file beside this one) as the target's account: the file of its answer, and notes.

    With a note there may be no answer, or the beginning of one.

    Raises:
        OSError: the scratch folder cannot take the parser.
    """
    folder = tool_folder(target, "parsing", [HERE / "functions.cjs", HERE / script])
    asked, answer = folder / "question.json", folder / "answer.json"
    asked.write_text(json.dumps(question), encoding="utf-8")
    asked.chmod(0o644)
    env = {name: value for name, value in target.env.items() if name == "PATH"}
    parser = replace(target, env=env, cwd=folder, stdin=None, timeout=PARSE_SECONDS, ok_exit=(0,))
    files = (str(path) for path in (folder / script, asked, answer))
    launched = launch(parser, [interpreter(target) or "node", "--expose-internals", *files])
    if launched.outcome == "ok":
        return answer, ()
    return answer, (launched.ended.reason("The parser of the program's files"),)


def valid_lines(answer: Path, form: TypeAdapter[T]) -> Iterator[T]:
    """A reader's: the lines of an answer that have this form; others are left out."""
    for line in read_file(answer, most=MOST_BYTES).splitlines():
        try:
            yield form.validate_json(line)
        except ValidationError:
            continue
