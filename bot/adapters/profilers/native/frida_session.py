"""Watches calls in a program through Frida; as a program of its own, it starts the other one for that."""

# Runs in the trial's account, too, where nothing of ours can be imported: standard library and Frida only.

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

FUNCTIONS, CALLS, END = "functions", "calls", "end"
"""Files of a started program: what to watch, its calls, how it ended."""
KILLED = 9
"""Its status, where nobody saw another one."""
_GONE_SECONDS = 5.0
_HERE = Path(__file__).parent


class Session:
    """Frida inside of one process; `received` is given what hooks recorded, from a thread of Frida's.

    refused: numbers of functions without room for a hook. status: what the program gave to `exit`.

    Raises:
        frida.* (which are Exceptions): the process is gone, or may not be looked into.
    """

    def __init__(self, pid: int, received: Callable[[bytes], None]) -> None:
        import frida

        self.refused: set[int] = set()
        self.errors: list[str] = []
        self.status: int | None = None
        self.gone = threading.Event()
        self._received = received
        self._session = frida.attach(pid)
        self._session.on("detached", self._detached)
        self._script = self._session.create_script((_HERE / "frida_agent.js").read_text(encoding="utf-8"))
        self._script.on("message", self._message)
        self._script.load()

    def watch(self, functions: Mapping[int, tuple[str, int]], *, exits: bool = False) -> None:
        """Hooks functions: number, from 1 to 4095 -> path of the object file, place in its memory."""
        hooks = (_HERE / "frida_hooks.c").read_text(encoding="utf-8")
        places = [[path, offset, number] for number, (path, offset) in functions.items()]
        self._script.exports_sync.watch(hooks, places, exits)

    def unwatch(self) -> int:
        """Takes the hooks away; how many calls are still open, which Frida must not leave."""
        return int(self._script.exports_sync.unwatch())

    def detach(self) -> None:
        """Leaves the process."""
        self._session.detach()

    def _message(self, message: Mapping[str, Any], data: bytes | None) -> None:
        if data is not None:
            self._received(data)
        elif message["type"] == "error":
            self.errors.append(str(message.get("description")))
        elif message["payload"].get("type") == "refused":
            self.refused.add(int(message["payload"]["id"]))
        elif message["payload"].get("type") == "exit":
            self.status = int(message["payload"]["code"]) << 8

    def _detached(self, *_: object) -> None:
        self.gone.set()


def run(folder: Path, functions: Mapping[int, tuple[str, int]], words: Sequence[str]) -> Mapping[str, object]:
    """Starts words, watches these functions until it ends, writes calls to the folder; says how it ended."""
    import frida

    program = shutil.which(words[0])
    if program is None:
        return {"error": "there is no such program"}
    with (folder / CALLS).open("wb") as file:

        def write(data: bytes) -> None:
            file.write(data)

        pid = frida.spawn(program, argv=list(words))
        session = Session(pid, write)
        session.watch(functions, exits=True)
        frida.resume(pid)
        try:
            status = os.waitpid(pid, 0)[1]
        except ChildProcessError:  # Frida was there first
            session.gone.wait(_GONE_SECONDS)
            status = session.status if session.status is not None else KILLED
        session.gone.wait(_GONE_SECONDS)
    return {"status": status, "refused": sorted(session.refused), "errors": session.errors[:3]}


def main(folder: Path, words: Sequence[str]) -> None:
    """Beside how the program ended, what this one took itself: it is none of the trial's."""
    functions = {
        int(number): (path, offset)
        for number, (path, offset) in json.loads((folder / FUNCTIONS).read_text(encoding="utf-8")).items()
    }
    try:
        ended = dict(run(folder, functions, words))
    except Exception as error:  # noqa: BLE001  (Frida has a dozen of them, and no common one)
        ended = {"error": f"{type(error).__name__}: {error}"}
    used = resource.getrusage(resource.RUSAGE_SELF)
    ended["cpu"] = used.ru_utime + used.ru_stime
    (folder / END).write_text(json.dumps(ended), encoding="utf-8")


if __name__ == "__main__":
    # A folder that has Frida, unless this Python has it.
    sys.path[:0] = filter(None, [sys.argv[2]])
    main(Path(sys.argv[1]), sys.argv[3:])
