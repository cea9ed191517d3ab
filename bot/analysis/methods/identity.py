"""Pairs the methods of two builds: same name, moved to another file, or renamed with the same body."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bot.model.profiles import Method

LEAST_BODY = 12
"""Words and signs; smaller bodies (getters, say) are equal by chance. Arbitrary."""
MOST_NAMED = 5
"""Methods that a note names."""

_WORD = re.compile(r"\w+|[^\w\s]")
_LAST_WORD = re.compile(r"\w+(?=\W*$)")

T = TypeVar("T")
Key = Callable[[Method], Hashable | None]


@dataclass(frozen=True)
class Pairing:
    """Which method of head is which of base; each method of either side is in exactly one of the fields.

    heads: base -> head. vanished: only in base (removed, or inlined into callers); new: only in head.
    """

    heads: Mapping[Method, Method]
    vanished: tuple[Method, ...] = ()
    new: tuple[Method, ...] = ()

    @property
    def renamed(self) -> Mapping[Method, Method]:
        """Those of `heads` that have another name or file now."""
        return {base: head for base, head in self.heads.items() if base != head}

    def as_head(self, known: Mapping[Method, T]) -> dict[Method, T]:
        """What is known of base's methods, under the methods of head; a vanished one keeps its own."""
        return {self.heads.get(method, method): value for method, value in known.items()}

    def notes(self, counted: Collection[Method]) -> tuple[str, ...]:
        """What a reader must know before comparing: that the set of methods changed.

        counted: methods whose calls are known; of others, that no sample met them on one side may be chance.
        """
        vanished = [method for method in self.vanished if method in counted]
        new = [method for method in self.new if method in counted]
        changes = []
        if vanished:
            changes.append(f"{len(vanished)} vanished ({_listed(vanished)})")
        if new:
            changes.append(f"{len(new)} new ({_listed(new)})")
        if not changes:
            return ()
        return (
            f"The set of methods changed: {', '.join(changes)}. What a method costs that is inlined in one "
            "build only is counted with its callers there.",
        )


def pair(
    base: Iterable[Method],
    head: Iterable[Method],
    *,
    bodies: tuple[Mapping[Method, str], Mapping[Method, str]] = ({}, {}),
) -> Pairing:
    """Pairs methods by name and file, then by a name that each build has once, then by equal bodies.

    Nothing is paired that could as well be something else. `bodies`: source texts of methods of base and of
    head, as far as they are known; their layout and the method's own name in them do not matter. Takes time
    in proportion to the methods.
    """
    before, after = dict.fromkeys(base), {method: method for method in head}
    heads = {method: after[method] for method in before if method in after}
    left, right = [m for m in before if m not in heads], _without(after, heads)
    if not left and not right:
        return Pairing(heads)
    _add(heads, _once(before, _name), _once(after, _name))
    left, right = [m for m in before if m not in heads], _without(after, heads)
    _add(heads, _once(left, _body_in(bodies[0])), _once(right, _body_in(bodies[1])))
    return Pairing(
        heads,
        tuple(sorted((m for m in before if m not in heads), key=_order)),
        tuple(sorted(_without(after, heads), key=_order)),
    )


def _add(
    heads: dict[Method, Method], left: Mapping[Hashable, Method], right: Mapping[Hashable, Method]
) -> None:
    """Pairs what has the same key and is in no pair yet."""
    taken = set(heads.values())
    for key, method in left.items():
        if method not in heads and key in right and right[key] not in taken:
            heads[method] = right[key]


def _once(methods: Iterable[Method], key: Key) -> Mapping[Hashable, Method]:
    """Methods by their key, where no other method has the same."""
    found: dict[Hashable, list[Method]] = defaultdict(list)
    for method in methods:
        if (value := key(method)) is not None:
            found[value].append(method)
    return {value: several[0] for value, several in found.items() if len(several) == 1}


def _name(method: Method) -> str:
    return method.name


def _body_in(bodies: Mapping[Method, str]) -> Key:
    def body(method: Method) -> Hashable | None:
        own = _LAST_WORD.search(method.name)
        words = _WORD.findall(bodies.get(method, ""))
        if len(words) < LEAST_BODY:
            return None
        return tuple("" if own is not None and word == own[0] else word for word in words)

    return body


def _without(after: Iterable[Method], heads: Mapping[Method, Method]) -> list[Method]:
    paired = set(heads.values())
    return [method for method in after if method not in paired]


def _order(method: Method) -> tuple[str, str]:
    return method.name, method.file or ""


def _listed(methods: Sequence[Method]) -> str:
    names = ", ".join(method.name for method in methods[:MOST_NAMED])
    return names if len(methods) <= MOST_NAMED else f"{names}, …"
