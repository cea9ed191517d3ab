"""Starts a program as `python -m`, `-c` or a script would, where the interpreter was told to ignore us."""

# ruff: noqa: BLE001, PTH123, UP031  (runs from 3.8 on)
# suspects_start.py KIND OPERAND ARGUMENT...; KIND is m, c, script or stdin.

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
else:
    Any = None  # annotations are evaluated here: importing __future__ would show

_FOLDER = __file__.rpartition("/")[0]
_KEPT: Any = []
_LOADED = frozenset(sys.modules)


def _watch() -> Any:
    """The session of this process; None: it could not begin, which the program is never to hear of."""
    name = _FOLDER + "/suspects_session.py"
    space: Any = {"__name__": "suspects_session", "__file__": name}
    try:
        with open(name, "rb") as file:
            code = compile(file.read(), name, "exec", dont_inherit=True)
        exec(code, space)  # noqa: S102
    except Exception:
        return None
    if "__future__" not in _LOADED:
        sys.modules.pop("__future__", None)
    return space["SESSION"]


def _fresh_main() -> Any:
    """The `__main__` that the program would have; ours stays alive."""
    main = type(sys)("__main__")
    main.__dict__.update(__builtins__=sys.modules["builtins"], __annotations__={})
    main.__dict__["__loader__"] = sys.modules["_frozen_importlib"].BuiltinImporter
    _KEPT.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    return main


def _as_if(kind: str, operand: str, rest: Any) -> None:
    """Arguments and module search path as if we had not been between."""
    packed = kind == "script" and _packed(operand)
    first: Any = (
        {"m": posix.getcwd(), "c": "", "stdin": ""}.get(kind) if kind != "script" else _folder_of(operand)
    )
    safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    clean = [place for place in sys.path if place != _FOLDER]
    sys.path[:] = [operand, *clean] if packed else clean if safe else [first, *clean]
    for place in (_FOLDER, __file__):
        sys.path_importer_cache.pop(place, None)
    sys.argv[:] = [{"m": "-m", "c": "-c", "stdin": "-"}.get(kind, operand), *rest]
    given = getattr(sys, "orig_argv", None)
    if given and __file__ in given:
        started = {"m": ["-m", operand], "c": ["-c", operand]}.get(kind, [operand])
        given[:] = [*given[: given.index(__file__)], *started, *rest]


def _run(kind: str, operand: str, rest: Any) -> None:
    if kind == "script" and not _readable(operand):
        sys.stderr.write("%s: can't open file '%s'\n" % (sys.executable, operand))
        sys.exit(2)
    _as_if(kind, operand, rest)
    main = _fresh_main()
    packed = kind == "script" and _packed(operand)
    if kind == "m" or packed:
        import runpy

        _watch()
        runpy._run_module_as_main("__main__" if packed else operand, not packed)  # type: ignore[attr-defined]
        return
    if kind == "script":
        sys.path_importer_cache[operand] = None  # looked for an archive
        absolute = sys.version_info >= (3, 9) and not operand.startswith("/")
        file = posix.getcwd() + "/" + operand if absolute else operand
        main.__dict__.update(__file__=file, __cached__=None)
        main.__dict__["__loader__"] = sys.modules["_frozen_importlib_external"].SourceFileLoader(
            "__main__", file
        )
        with open(operand, "rb") as stream:
            source: Any = stream.read()
    else:
        source = operand if kind == "c" else sys.stdin.buffer.read()
        file = {"c": "<string>"}.get(kind, "<stdin>")
    session = _watch()
    code = session.compile(file, lambda: source) if session and kind == "script" else None
    if code is None:
        code = compile(source, file, "exec", dont_inherit=True)
    exec(code, main.__dict__)  # noqa: S102


def _readable(path: str) -> bool:
    try:
        posix.close(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC))
    except OSError:
        return False
    return True


def _folder_of(script: str) -> str:
    """The folder that a script really lies in."""
    file = posix.open(script, posix.O_RDONLY | posix.O_CLOEXEC)
    real = posix.readlink("/proc/self/fd/%d" % file)
    posix.close(file)
    return real.rpartition("/")[0]


def _packed(path: str) -> bool:
    try:
        if posix.stat(path).st_mode & 0o170000 == 0o040000:
            return True
        with open(path, "rb") as file:
            return file.read(4) == b"PK\3\4"
    except OSError:
        return False


_run(sys.argv[1], sys.argv[2], sys.argv[3:])
