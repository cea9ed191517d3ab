"""The command `suspects`: one line and an exit code for whatever goes wrong."""

from __future__ import annotations

import sys
import traceback

import typer

from bot.commands.application import application
from bot.model.errors import SuspectsError

INTERRUPTED = 130
NOTHING = 3
"""Exit code of a machine that fails us and of a defect of ours: nothing can be said to have been measured."""


def main() -> None:
    """Runs the command line; the only place that catches everything."""
    try:
        code = application(standalone_mode=False)
    except SuspectsError as error:
        code = _tell(" ".join([str(error), *getattr(error, "__notes__", [])]), error.exit_code)
    except typer.TyperException as error:
        said = error.format_message()  # nothing: `suspects` alone, and the help has been shown
        code = _tell(f"{said} (--help shows what there is)", 2) if said else 2
    except KeyboardInterrupt:
        code = INTERRUPTED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        code = _tell(f"{where}{error.strerror or error}", NOTHING)
    except Exception as error:  # noqa: BLE001  a defect of ours ends in one clear line too
        if "-v" in sys.argv or "--verbose" in sys.argv:
            traceback.print_exc()
        code = _tell(f"{type(error).__name__}: {error} (-v shows more)", NOTHING, kind="internal error")
    sys.exit(code)


def _tell(text: str, code: int, *, kind: str = "error") -> int:
    print(f"suspects: {kind}:", " ".join(text.split()), file=sys.stderr)  # noqa: T201
    return code


if __name__ == "__main__":
    main()
