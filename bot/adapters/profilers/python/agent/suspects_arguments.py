"""Small summaries of a call's arguments: types, lengths and small numbers, never contents."""

# ruff: noqa: UP031  (runs from 3.8 on)

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SIZED = {str, bytes, bytearray, list, tuple, dict, set, frozenset, range, memoryview}


def summary(frame: Any) -> Any:
    """Of each argument its type, and the length or the small number that it is; nothing of its contents."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return tuple([_told(values.get(name)) for name in code.co_varnames[:count]])


def _told(value: Any) -> Any:
    kind = type(value)
    if kind in _SIZED:
        return kind, len(value)
    if kind is int:
        return kind, value if -1000 < value < 1000 else "~2^%d" % value.bit_length()
    if kind is bool or value is None:
        return kind, value
    return kind, None


def told_text(name: str, summary: Any) -> str:
    """`name=list[7]`, `name=int 3`, `name=str[20]`, `name=None`."""
    kind, detail = summary
    shown = name + "=" + kind.__name__[:60]
    if kind in _SIZED:
        return "%s[%d]" % (shown, detail)
    if detail is None:
        return name + "=None" if kind is type(None) else shown
    return "%s %s" % (shown, detail)
