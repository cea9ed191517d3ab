"""Starts the agent in a Python process, then makes way for the program's own sitecustomize."""

# Every Python that meets our PYTHONPATH runs this, a 2.7 too: old syntax, and nothing where it is too old.

import sys


def _begin(folder):  # type: ignore[no-untyped-def]  # annotations are no syntax of 2.7
    sys.path[:] = [place for place in sys.path if place != folder]
    sys.path_importer_cache.pop(folder, None)
    # The launcher begins itself.
    if sys.version_info < (3, 8) or sys.argv[:1] == [folder + "/suspects_start.py"]:
        return
    # Not imported: the program's sys.modules stays as it would be.
    name = folder + "/suspects_session.py"
    with open(name, "rb") as file:  # noqa: PTH123
        code = compile(file.read(), name, "exec", dont_inherit=True)
    known = "__future__" in sys.modules
    exec(code, {"__name__": "suspects_session", "__file__": name})  # noqa: S102
    if not known:
        sys.modules.pop("__future__", None)


try:  # noqa: SIM105  (contextlib would show)
    _begin(__file__.rpartition("/")[0])  # type: ignore[no-untyped-call]
except Exception:  # noqa: BLE001, S110  (a full disk, say, is nothing that the program should hear of)
    pass
del sys.modules["sitecustomize"]
# The program's own, which takes our place; where there is none, `site` expects just this error.
import sitecustomize  # type: ignore[import-not-found,unused-ignore]  # noqa: E402, F401
