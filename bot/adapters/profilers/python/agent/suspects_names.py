"""Qualified names of code objects, also where Python does not keep them."""

# ruff: noqa: BLE001, PTH123  (runs from 3.8 on; the program must never hear of a failure of ours)

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_trees: dict[str, dict[tuple[int, str], str]] = {}


def qualified(codes: Any, notes: set[str]) -> list[str]:
    """Qualified names; before 3.11 code objects do not know theirs, and it is read from the source again."""
    if codes and hasattr(codes[0], "co_qualname"):
        return [code.co_qualname for code in codes]
    names = []
    for code in codes:
        file = code.co_filename
        if file not in _trees:
            _trees[file] = _compiled(file)
        name = _trees[file].get((code.co_firstlineno, code.co_name))
        if name is None and not code.co_name.startswith("<") and not file.startswith("<"):
            notes.add("unqualified")
        names.append(name or code.co_name)
    return names


def _compiled(file: str) -> dict[tuple[int, str], str]:
    """(first line, name) -> qualified name, for all code of a source file."""
    import warnings

    found: dict[tuple[int, str], str] = {}
    try:
        with open(file, "rb") as source, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pending = [(compile(source.read(), file, "exec", dont_inherit=True), "")]
    except Exception:
        return found
    while pending:
        code, prefix = pending.pop()
        for inner in code.co_consts:
            if isinstance(inner, type(code)):
                name = prefix + inner.co_name
                found[inner.co_firstlineno, inner.co_name] = name
                # Functions have fast locals, class bodies do not.
                pending.append((inner, name + (".<locals>." if inner.co_flags & 1 else ".")))
    return found
