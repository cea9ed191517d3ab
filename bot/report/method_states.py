"""What is said of a method that one side alone was seen to call: new, gone, called now, no longer called."""

from __future__ import annotations

from bot.model.report_methods import MethodSuspect

_ONE_SIDED = {"new": ("new", "not seen at base"), "vanished": ("gone", "not seen at head")}
_STANDING = {
    ("new", "called"): "called now",
    ("new", "perhaps inlined"): "called now, or inlined at base",
    ("vanished", "called"): "no longer called",
    ("vanished", "perhaps inlined"): "no longer called, or inlined at head",
}


def state(method: MethodSuspect) -> str:
    """What one side alone has, or alone calls; empty: both do.

    Where calls are not counted it is only that no sample met it on the other side.
    """
    if (method.file is None and method.owner is None) or None in method.calls:
        return _ONE_SIDED.get(method.change, ("", ""))[1]
    return _STANDING.get((method.change, method.stands)) or _ONE_SIDED.get(method.change, ("", ""))[0]
