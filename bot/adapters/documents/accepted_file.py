"""Reads .github/suspects.accepted.yml, and adds an entry to it without touching what people wrote there."""

from __future__ import annotations

import io
from typing import Literal

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from bot.adapters.documents.yaml_document import validated
from bot.model.accepted import AcceptedChange
from bot.model.comment_commands import term_text

HEADER = """\
# Changes for the worse that were accepted: Suspects shows them, and alarms for them no longer. An entry is
# about one metric in the configurations where a term holds (levels joined by +, or everything), for changes
# up to `at_most`, until the day that it names. Entries may be edited or removed.
"""


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1]
    accepted: tuple[AcceptedChange, ...] = ()


def read_accepted(text: str, *, name: str) -> tuple[AcceptedChange, ...]:
    """The entries of a file's text; an empty file has none.

    Raises:
        UsageError: anything wrong, in one line with file, line, key and what is allowed.
    """
    _, found = validated(text, _File, name=name)
    return found.accepted if found else ()


def with_entry(text: str, entry: AcceptedChange) -> str:
    """A file's text with one more entry at its end, instead of an earlier one of its term and metric.

    Raises:
        UsageError: the text is not such a file.
    """
    known = read_accepted(text, name="the file")
    if not known:
        text = f"{HEADER}version: 1\naccepted: []\n"
    yaml = YAML()
    yaml.width = 10_000  # one line a reason
    document = yaml.load(text)
    entries = document["accepted"]
    entries.fa.set_block_style()
    for place in reversed(range(len(known))):
        if (known[place].term, known[place].metric) == (entry.term, entry.metric):
            del entries[place]
    entries.append(_written(entry))
    stream = io.StringIO()
    yaml.dump(document, stream)
    return stream.getvalue()


def _written(entry: AcceptedChange) -> CommentedMap:
    found = CommentedMap(term=term_text(entry.term), metric=entry.metric)
    if entry.at_most is not None:
        found["at_most"] = f"{100 * entry.at_most:.10g}%"
    found["until"] = entry.until
    if entry.reason:
        found["reason"] = entry.reason
    if entry.pull_request is not None:
        found["pull_request"] = entry.pull_request
    if entry.by:
        found["by"] = entry.by
    return found
