"""The command `suspects`: one line and an exit code for whatever goes wrong."""

from __future__ import annotations

import gc
import os
import sys

SELDOM = 100_000, 50, 100
"""Thresholds of the garbage collector: with those of a small program it takes a sixth of every start."""
INTERRUPTED = 130
NOTHING = 3
"""Exit code of a machine that fails us and of a defect of ours: nothing can be said to have been measured."""


def main() -> None:
    """Runs the command line and ends the process."""
    _open_closed_streams()
    gc.set_threshold(*SELDOM)
    try:
        code = _run()
    except KeyboardInterrupt:  # while modules were being loaded, or a second time
        code = INTERRUPTED
    gc.freeze()  # the end of the process frees all: nothing is searched for cycles once more
    sys.exit(code)


def _open_closed_streams() -> None:
    """A closed standard stream (`>&-`) becomes the null device: no file of ours may get its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def _run() -> int:
    """The exit code; the only place that catches everything."""
    # Imported here, so that Ctrl-C while they load ends without a traceback too.
    import traceback

    import typer

    from bot.commands.application import application
    from bot.model.errors import SuspectsError

    try:
        code: int = application(standalone_mode=False)
    except SuspectsError as error:
        return _tell(error.told, error.exit_code)
    except typer.TyperException as error:
        said = error.format_message()  # nothing: `suspects` alone, and the help has been shown
        return _tell(f"{said} (--help shows what there is)", 2) if said else 2
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _tell(f"{where}{error.strerror or error}", NOTHING)
    except Exception as error:  # noqa: BLE001  a defect of ours ends in one clear line too
        if "-v" in sys.argv or "--verbose" in sys.argv:
            traceback.print_exc()
        return _tell(f"{type(error).__name__}: {error} (-v shows more)", NOTHING, kind="internal error")
    return code


def _tell(text: str, code: int, *, kind: str = "error") -> int:
    print(f"suspects: {kind}:", " ".join(text.split()), file=sys.stderr)  # noqa: T201
    return code


if __name__ == "__main__":
    main()
