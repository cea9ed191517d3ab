"""Runs one command and leaves nothing of it behind: all its descendants end with it, or with the leash."""

# A program of its own (`python3 -I -S supervise.py command...`), standard library only. Standard input is a
# socket, the leash: when its other end closes, even because the caller was killed, everything is killed; the
# command's wait status is sent back over it. As child subreaper it stays the ancestor of every process the
# command starts, double forks and new sessions included, so the tree below it is complete.

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LEASH = 0
GIVE_UP_SECONDS = 5.0
"""A process that survives SIGKILL this long (it belongs to root and we do not) is left alone."""
_PR_SET_CHILD_SUBREAPER = 36


def descendants() -> list[int]:
    """Process ids below this process, parents before children."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  (pathlib costs 10 ms of start-up)
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            children.setdefault(int(fields[1]), []).append(int(name))
    found = list(children.get(os.getpid(), ()))
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def end_all() -> None:
    """Kills and reaps every descendant; stopped first, so that none forks or ends while we count."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in descendants():
                try:
                    os.kill(pid, number)
                except OSError:
                    continue
        time.sleep(0.002)


def start(command: Sequence[str]) -> int:
    """Forks the command into its own session without our leash."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), LEASH)
        os.execvp(command[0], list(command))  # noqa: S606  (no shell is the point)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    os._exit(127)


def main(command: Sequence[str]) -> None:
    """Supervises one command until it ends or the leash is let go."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    pid = start(command)
    handle = os.pidfd_open(pid)
    ended = handle in select.select([LEASH, handle], [], [])[0]
    status = os.waitpid(pid, 0)[1] if ended else signal.SIGKILL
    end_all()
    with contextlib.suppress(OSError):  # nobody may be waiting for the answer any more
        os.write(LEASH, str(int(status)).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
