"""Timing before Python 3.12: chosen functions are changed where their module is compiled, nothing else is."""

# ruff: noqa: BLE001, S110  (the program must never hear of a failure of ours)

from __future__ import annotations

import _ast
import _warnings
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MARK = "\0suspects "
_clock, _frame = time.perf_counter_ns, sys._getframe
_ONLY_TREE = 0x400  # ast.PyCF_ONLY_AST; the module ast would import a dozen others
_FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef)
_SCOPES = (*_FUNCTIONS, _ast.Lambda, _ast.ClassDef)


class Rewriting:
    """`f` becomes `enter(); try: ... finally: leave()`; `yield x` becomes `resume((yield pause(x)))`."""

    def __init__(self, timing: Any) -> None:
        self.timing = timing
        self.active = False
        self.hooks: dict[str, Any] = {}
        timing.session.compile = self.compiled
        recorder = timing.recorder
        opened, suspended = recorder.open, recorder.suspended
        left, abandoned = recorder.leave, recorder.abandoned

        # At the end of the stack the program meets its error a call earlier: before Python 3.9 an error that
        # is swallowed there is fatal.
        def leave() -> None:
            try:
                if opened or suspended:
                    now, place = _clock(), id(_frame(1))
                    # Suspended: an exception was thrown in where it had yielded.
                    if not (suspended and abandoned(place)):
                        left(place, now)
            except RecursionError:
                raise
            except Exception:
                pass

        def pause(value: Any) -> Any:
            try:
                now, place = _clock(), id(_frame(1))
                if place not in suspended:  # else an exception was thrown in: no `resume`
                    recorder.pause(place, now)
            except RecursionError:
                raise
            except Exception:
                pass
            return value

        def resume(value: Any) -> Any:
            try:
                recorder.resume(id(_frame(1)))
            except RecursionError:
                raise
            except Exception:
                pass
            return value

        self.hooks.update(leave=leave, pause=pause, resume=resume)

    def enter_hook(self, how: Any) -> Any:
        """What a chosen function calls first; its row begins when it is called first."""
        recorder, timing = self.timing.recorder, self.timing
        rows, own, begin = recorder.rows, recorder.own, recorder.enter

        def enter() -> None:
            try:
                frame = _frame(1)
                code = frame.f_code
                row = rows.get(id(code)) or timing.add(code, how[0], arguments=how[1])
                row.skip -= 1
                if row.skip:
                    own[0] += recorder.skip
                else:
                    begin(row, frame, _clock())
            except RecursionError:
                raise
            except Exception:
                pass

        return enter

    def begin(self) -> None:
        """Compiles modules from here on."""
        if self.active:
            return
        self.active = True
        loader = sys.modules["_frozen_importlib_external"].SourceLoader
        original, compiled = loader.get_code, self.compiled

        def get_code(self: Any, fullname: str) -> Any:
            path = self.get_filename(fullname)
            code = compiled(path, lambda: self.get_data(path))
            return original(self, fullname) if code is None else code

        loader.get_code = get_code

    def stop(self) -> None:
        """Nothing to do: what runs on costs little, and is not told."""

    def compiled(self, path: str, read: Any) -> Any:
        """The changed code of a module; None: it has no chosen function, or is none that can be compiled."""
        suffixes = [s for hows in self.timing.wanted.values() for how in hows for s in how[0]]
        if not any(("/" + path).endswith("/" + suffix) for suffix in suffixes):
            return None
        try:
            source = read()
            tree = _quietly(source, path, _ONLY_TREE)
            names: dict[str, Any] = {}
            self.change(tree, "", path=path, names=names)
            return self.bound(_quietly(tree, path, 0), names) if names else None
        except (SyntaxError, ValueError, OSError, RecursionError):
            return None

    def change(self, node: Any, prefix: str, *, path: str, names: dict[str, Any]) -> None:
        """Changes the chosen functions below a node, innermost first."""
        for child in _children(node):
            name, inner = prefix, prefix
            if isinstance(child, _SCOPES):
                name = prefix + getattr(child, "name", "<lambda>")
                inner = name + ("." if isinstance(child, _ast.ClassDef) else ".<locals>.")
            self.change(child, inner, path=path, names=names)
            if isinstance(child, _FUNCTIONS):
                how = self.timing.chosen(path, name)
                if how is not None:
                    key = _MARK + "enter %d" % len(names)  # noqa: UP031
                    names[key] = self.enter_hook(how)
                    _wrap(child, key)

    def bound(self, code: Any, names: dict[str, Any]) -> Any:
        """The marks in constants become the functions that they stand for."""
        constants = []
        for constant in code.co_consts:
            if isinstance(constant, type(code)):
                constants.append(self.bound(constant, names))
            elif isinstance(constant, str) and constant.startswith(_MARK):
                constants.append(names.get(constant) or self.hooks[constant[len(_MARK) :]])
            else:
                constants.append(constant)
        return code.replace(co_consts=tuple(constants))

    def empty(self) -> Any:
        """An empty function with and without the tool, and its row."""
        tree = _quietly("def watched():\n    pass\n", "empty", _ONLY_TREE)
        names = {_MARK + "enter 0": self.enter_hook((1, False))}
        _wrap(tree.body[0], _MARK + "enter 0")
        space: dict[str, Any] = {}
        exec(self.bound(_quietly(tree, "empty", 0), names), space)  # noqa: S102
        watched = space["watched"]

        def plain() -> None:
            pass

        watched()
        return watched, plain, self.timing.recorder.rows[id(watched.__code__)]

    def no_empty(self, row: Any) -> None:
        """The empty function is no part of the program."""
        del self.timing.recorder.rows[id(row.code)]


def _quietly(source: Any, path: str, flags: int) -> Any:
    """Compiles without a warning: the program did not ask for what we write."""
    # The filters themselves, not the module warnings, which may not be there yet.
    changed: Any = _warnings._filters_mutated  # type: ignore[attr-defined,unused-ignore]
    _warnings.filters.insert(0, ("ignore", None, Warning, None, 0))
    changed()
    try:
        return compile(source, path, "exec", flags, dont_inherit=True)
    finally:
        del _warnings.filters[0]
        changed()


def _children(node: Any) -> Any:
    for name in node._fields:
        value = getattr(node, name, None)
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, _ast.AST):
                yield child


def _place(like: Any) -> dict[str, int]:
    return {name: getattr(like, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}


def _call(mark: str, arguments: Any, like: Any) -> Any:
    place = _place(like)
    function = _ast.Constant(value=mark, kind=None, **place)
    return _ast.Call(func=function, args=arguments, keywords=[], **place)


def _statement(call: Any) -> Any:
    return _ast.Expr(value=call, **_place(call))


def _wrap(function: Any, enter: str) -> None:
    body = function.body
    first = body[0]
    documented = (
        isinstance(first, _ast.Expr)
        and isinstance(first.value, _ast.Constant)
        and isinstance(first.value.value, str)
    )
    head, rest = (body[:1], body[1:]) if documented else ([], body)
    if not isinstance(function, _ast.AsyncFunctionDef):
        for statement in rest:
            _pausing(statement)
    like = rest[0] if rest else first
    place = _place(like)
    leave = _statement(_call(_MARK + "leave", [], like))
    guarded = _ast.Try(body=rest or [_ast.Pass(**place)], handlers=[], orelse=[], finalbody=[leave], **place)
    function.body = [*head, _statement(_call(enter, [], like)), guarded]


def _pausing(node: Any) -> None:
    """Every `yield` of this function itself, not of functions in it."""
    if isinstance(node, _SCOPES):
        return
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            for place, child in enumerate(value):
                if isinstance(child, _ast.AST):
                    _pausing(child)
                    value[place] = _paused(child)
        elif isinstance(value, _ast.AST):
            _pausing(value)
            setattr(node, name, _paused(value))


def _paused(node: Any) -> Any:
    if not isinstance(node, _ast.Yield):
        return node
    value = node.value or _ast.Constant(value=None, kind=None, **_place(node))
    node.value = _call(_MARK + "pause", [value], node)
    return _call(_MARK + "resume", [node], node)


def make(timing: Any) -> Rewriting:
    """The way of this interpreter."""
    return Rewriting(timing)
