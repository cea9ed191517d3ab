"""The command `suspects`: one line and an exit code for whatever goes wrong."""

from __future__ import annotations

import sys
import traceback

from bot.commands.application import application
from bot.model.errors import SuspectsError

INTERNAL = 3
"""Exit code of a defect of ours: nothing can be said to have been measured."""


def main() -> None:
    """Runs the command line; the only place that catches everything."""
    try:
        code = application(standalone_mode=False)
    except SuspectsError as error:
        notes = getattr(error, "__notes__", [])
        print("suspects: error:", " ".join([str(error), *notes]), file=sys.stderr)  # noqa: T201
        code = error.exit_code
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # noqa: BLE001  a defect of ours ends in one clear line too
        if "-v" in sys.argv or "--verbose" in sys.argv:
            traceback.print_exc()
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        print(f"suspects: internal error: {text} (-v shows more)", file=sys.stderr)  # noqa: T201
        code = INTERNAL
    sys.exit(code)


if __name__ == "__main__":
    main()
