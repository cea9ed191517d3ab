"""Reads and writes .github/suspects.assertions.yml: one readable entry for each asserted method."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from bot.adapters.documents.yaml_document import Document, KeyPath, validated
from bot.model.assertions import AssertedGroup, Assertion, CallEdge, Condition
from bot.model.errors import UsageError

BETWEEN = " > "
"""In the text of an edge, between caller and callee."""
HEADER = """\
# Performance assertions, mined by Suspects and checked on every pull request: into which clusters of
# duration the calls of a method fall, depending on the calls over which it is reached. Under `groups`,
# `when` says over which (e1, e2, ... are listed under `edges`), and `expected` the share of its calls in
# each cluster, the fastest first; `borders` are the shares of all its calls below each border between two
# clusters. No times are kept: borders are found anew on each machine. Entries may be edited or deleted.
"""
MOST_OFF = 0.02
"""By which the shares of a group may miss one, because they are rounded."""

Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Group(_Entry):
    when: str = Field(max_length=2000)
    expected: tuple[Share, ...] = Field(min_length=1)
    calls: int = Field(ge=0, default=0)


class _Origin(_Entry):
    revision: str = ""
    trials: int = Field(ge=0, default=0)


class _Asserted(_Entry):
    id: str
    method: str = Field(min_length=1)
    file: str | None = None
    edges: dict[str, str] = Field(default_factory=dict)
    borders: tuple[Share, ...] = ()
    groups: tuple[_Group, ...] = Field(min_length=1)
    mined: _Origin = _Origin()


class _File(_Entry):
    version: Literal[1]
    assertions: tuple[_Asserted, ...] = ()


def read_assertions(text: str, *, name: str) -> tuple[Assertion, ...]:
    """The assertions of a file's text; an empty file has none.

    Raises:
        UsageError: anything wrong, in one line with file, line, key and what is allowed.
    """
    document, found = validated(text, _File, name=name)
    read: list[Assertion] = []
    entries = found.assertions if found else ()
    for i, entry in enumerate(entries):
        for place, problem in _problems(entry):
            raise document.wrong(("assertions", i, *place), problem, name=name)
        read.append(_assertion(entry, document, name, i))
        same = [k for k, other in enumerate(entries[:i]) if other.id == entry.id]
        if same:
            first = document.line(("assertions", same[0], "id"))
            problem = f"{entry.id} stands twice (first in line {first}); keep one of the two"
            raise document.wrong(("assertions", i, "id"), problem, name=name)
    return tuple(read)


def entry_text(assertion: Assertion) -> str:
    """One entry, as it stands in a file."""
    return assertion_text([assertion]).partition("assertions:\n")[2]


def assertion_text(assertions: Sequence[Assertion]) -> str:
    """A file's text, sorted by file and method: the same assertions give the same text."""
    ordered = sorted(assertions, key=lambda a: (a.file or "", a.method))
    document = CommentedMap(version=1, assertions=CommentedSeq([_entry(a) for a in ordered]))
    stream = io.StringIO()
    yaml = YAML()
    yaml.width = 10_000  # one line a group, however long its condition is
    yaml.dump(document, stream)
    return HEADER + stream.getvalue()


def _entry(assertion: Assertion) -> CommentedMap:
    edges = {
        name: BETWEEN.join(edge)
        for group in assertion.groups
        for name, edge in group.when.edges.items()
        if edge in assertion.atoms
    }
    groups = [
        _flow(
            when=group.when.text,
            expected=_flow_list([round(share, 3) for share in group.expected]),
            calls=group.calls,
        )
        for group in assertion.groups
    ]
    entry = CommentedMap(id=assertion.id, method=assertion.method)
    if assertion.file is not None:
        entry["file"] = assertion.file
    if edges:
        entry["edges"] = CommentedMap(sorted(edges.items()))
    entry["borders"] = _flow_list([round(place, 3) for place in assertion.places])
    entry["groups"] = CommentedSeq(groups)
    entry["mined"] = _flow(revision=assertion.mined, trials=assertion.trials)
    return entry


def _flow(**values: Any) -> CommentedMap:
    found = CommentedMap(**values)
    found.fa.set_flow_style()
    return found


def _flow_list(values: Sequence[float]) -> CommentedSeq:
    found = CommentedSeq(values)
    found.fa.set_flow_style()
    return found


def _problems(entry: _Asserted) -> Iterator[tuple[KeyPath, str]]:
    """What types cannot say."""
    for name, text in entry.edges.items():
        if not name.isidentifier():
            yield ("edges", name), f"{name} cannot name an edge; letters, digits and _ are allowed, as in e1"
        if len(text.split(BETWEEN)) != 2:
            yield ("edges", name), f"`{text}` is no edge; caller{BETWEEN}callee is needed"
    if any(a >= b for a, b in zip((0.0, *entry.borders), (*entry.borders, 1.0), strict=True)):
        yield ("borders",), "borders must rise, between 0 and 1"
    for k, group in enumerate(entry.groups):
        if len(group.expected) != len(entry.borders) + 1:
            needed = f"{len(entry.borders) + 1}, one more than there are borders"
            yield ("groups", k, "expected"), f"has {len(group.expected)} shares; needed are {needed}"
        if abs(sum(group.expected) - 1.0) > MOST_OFF:
            yield ("groups", k, "expected"), f"the shares add up to {sum(group.expected):g}; 1 is needed"


def _assertion(entry: _Asserted, document: Document, name: str, number: int) -> Assertion:
    edges: Mapping[str, CallEdge] = {
        key: (caller, callee) for key, text in entry.edges.items() for caller, callee in [text.split(BETWEEN)]
    }
    groups = []
    for k, group in enumerate(entry.groups):
        try:
            when = Condition(group.when, edges)
        except UsageError as error:
            raise document.wrong(("assertions", number, "groups", k, "when"), str(error), name=name) from None
        groups.append(AssertedGroup(when, group.expected, group.calls))
    found = Assertion(
        entry.method, entry.file, entry.borders, tuple(groups), entry.mined.revision, entry.mined.trials
    )
    if found.id != entry.id:
        problem = f"{entry.id} is not the id of this method, which is {found.id}; write that"
        raise document.wrong(("assertions", number, "id"), problem, name=name)
    return found
