"""Starts a program as `python -m`, `-c` or a script would, where the interpreter was told to ignore us."""

# suspects_start.py KIND OPERAND ARGUMENT...; KIND is m, c, script or stdin.

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FOLDER = __file__.rpartition("/")[0]


def _watch() -> None:
    name = _FOLDER + "/suspects_session.py"
    with open(name, "rb") as file:  # noqa: PTH123
        code = compile(file.read(), name, "exec", dont_inherit=True)
    exec(code, {"__name__": "suspects_session", "__file__": name})  # noqa: S102


def _fresh_main() -> Any:
    """The `__main__` that the program would have; ours stays alive."""
    main = type(sys)("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"], kept = main, sys.modules["__main__"]
    main.__dict__["__loader__"] = kept.__loader__
    return main


def _run(kind: str, operand: str, rest: list[str]) -> None:
    import posix

    own = "/".join(operand.split("/")[:-1])
    first = {"m": posix.getcwd(), "c": "", "stdin": "", "script": own}[kind]
    # A folder or an archive is a module search place itself.
    packed = kind == "script" and _packed(operand)
    if packed:
        first = operand
    clean = [place for place in sys.path if place != _FOLDER]
    safe = sys.flags.isolated or getattr(sys.flags, "safe_path", False)
    sys.path[:] = clean if safe and not packed else [first, *clean]
    sys.path_importer_cache.pop(_FOLDER, None)
    sys.argv[:] = [{"m": "-m", "c": "-c", "stdin": "-"}.get(kind, operand), *rest]
    main = _fresh_main()
    if kind == "m" or packed:
        import runpy

        _watch()
        runpy._run_module_as_main("__main__" if packed else operand, not packed)  # type: ignore[attr-defined]
        return
    if kind == "script":
        from importlib.machinery import SourceFileLoader

        main.__dict__.update(__file__=operand, __cached__=None)
        main.__dict__["__loader__"] = SourceFileLoader("__main__", operand)
        with open(operand, "rb") as file:  # noqa: PTH123
            source: Any = file.read()
    else:
        source = operand if kind == "c" else sys.stdin.buffer.read()
    code = compile(
        source, {"c": "<string>", "stdin": "<stdin>"}.get(kind, operand), "exec", dont_inherit=True
    )
    _watch()
    exec(code, main.__dict__)  # noqa: S102


def _packed(path: str) -> bool:
    import posix

    try:
        if posix.stat(path).st_mode & 0o170000 == 0o040000:
            return True
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(4) == b"PK\3\4"
    except OSError:
        return False


_run(sys.argv[1], sys.argv[2], sys.argv[3:])
