"""What the file descriptors of a process stand for, followed from call to call: what opened which number."""

# A tracer that sees numbers only knows a descriptor by the call that returned it. Pipes and pairs of sockets
# are returned in memory that it does not see: a number that no call returned is one of theirs, once there
# are any.

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot.model.resources import Count

Arguments = Sequence[int]
"""Of a call, as registers have them: unsigned."""
OF_UNKNOWN: Mapping[Count, str] = {
    "other_calls": "read write close fstat lseek pread64 pwrite64 readv writev preadv pwritev preadv2 "
    "pwritev2 ioctl fcntl dup dup2 dup3 sendfile splice tee vmsplice copy_file_range fsync fdatasync syncfs "
    "sync_file_range flock fallocate ftruncate fadvise64 readahead getdents getdents64 fchdir fchmod fchown "
    "fstatfs fsetxattr fgetxattr flistxattr fremovexattr epoll_ctl epoll_wait epoll_wait_old epoll_pwait "
    "epoll_pwait2 inotify_add_watch inotify_rm_watch timerfd_settime timerfd_gettime fanotify_mark execveat "
    "setns pidfd_getfd process_mrelease io_uring_enter io_uring_register",
    "network_calls": "connect accept accept4 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown bind "
    "listen getsockname getpeername setsockopt getsockopt",
}
"""Calls whose first argument is a descriptor, by the class that they count to when its kind is not known."""


class _Opening(NamedTuple):
    """kind: of what a call returns; None: as its first argument.

    flags: which argument has them; close: the bit there that says "closed by exec".
    """

    kind: Count | None
    flags: int | None = None
    close: int = os.O_CLOEXEC


_FILE: Count = "filesystem_calls"
_SIGNAL: Count = "ipc_calls"
OPENINGS: Mapping[str, _Opening] = {
    "open": _Opening(_FILE, 1),
    "openat": _Opening(_FILE, 2),
    "openat2": _Opening(_FILE),
    "creat": _Opening(_FILE),
    "memfd_create": _Opening(_FILE, 1, 1),
    "mq_open": _Opening(_FILE, 1),
    "eventfd": _Opening(_SIGNAL),
    "eventfd2": _Opening(_SIGNAL, 1),
    "epoll_create": _Opening(_SIGNAL),
    "epoll_create1": _Opening(_SIGNAL, 0),
    "signalfd": _Opening(_SIGNAL),
    "signalfd4": _Opening(_SIGNAL, 3),
    "timerfd_create": _Opening(_SIGNAL, 1),
    "inotify_init": _Opening(_SIGNAL),
    "inotify_init1": _Opening(_SIGNAL, 0),
    "pidfd_open": _Opening(_SIGNAL),
    "io_uring_setup": _Opening(_SIGNAL),
    "socket": _Opening("network_calls", 1),
    "accept": _Opening(None),
    "accept4": _Opening(None, 3),
    "dup": _Opening(None),
    "dup2": _Opening(None),
    "dup3": _Opening(None, 2),
    "fcntl": _Opening(None),
}
"""Calls that return descriptors; of `fcntl` those that do."""
PAIRS = frozenset({"pipe", "pipe2", "socketpair"})
_OF_UNKNOWN = {name: count for count, names in OF_UNKNOWN.items() for name in names.split()}
_DUPLICATE, _DUPLICATE_CLOSING, _SET_FLAGS = 0, 1030, 2  # F_DUPFD, F_DUPFD_CLOEXEC, F_SETFD
_CLOSE_LATER = 4  # CLOSE_RANGE_CLOEXEC


class Descriptors:
    """Of one process, shared by its threads; at first the three that a trial begins with, which are files."""

    def __init__(self) -> None:
        self._kinds: dict[int, Count] = dict.fromkeys(range(3), _FILE)
        self._closing: set[int] = set()
        self._pairs = False

    def copy(self) -> Descriptors:
        """Those of a forked process."""
        other = Descriptors()
        other._kinds, other._closing, other._pairs = self._kinds.copy(), self._closing.copy(), self._pairs
        return other

    def knows(self, register: int) -> bool:
        """Whether a call returned this descriptor."""
        return _number(register) in self._kinds

    def made_on(self, name: str, arguments: Arguments) -> Count:
        """The class of what a call is made on, where its name does not say it."""
        if name == "socket":
            return _of_family(arguments[0])
        if (unknown := _OF_UNKNOWN.get(name)) is None:
            return "other_calls"
        if (kind := self._kinds.get(_number(arguments[0]))) is not None:
            return kind
        return "ipc_calls" if self._pairs else unknown

    def entered(self, name: str, arguments: Arguments) -> None:
        """A call begins: what it closes may belong to another thread's before it ends."""
        first = _number(arguments[0])
        if name == "close":
            self._forget(first)
        elif name == "close_range":
            within = [number for number in self._kinds if first <= number <= arguments[1]]
            if arguments[2] & _CLOSE_LATER:
                self._closing.update(within)
            else:
                for number in within:
                    self._forget(number)
        elif name == "fcntl" and arguments[1] == _SET_FLAGS:
            self._mark(first, closing=bool(arguments[2] & 1))

    def returned(self, name: str, arguments: Arguments, result: int) -> None:
        """A call has ended, and well."""
        if name in PAIRS:
            self._pairs = True
        elif name in OPENINGS and not (
            name == "fcntl" and arguments[1] not in (_DUPLICATE, _DUPLICATE_CLOSING)
        ):
            self._open(name, arguments, result)

    def executed(self) -> None:
        """Another program begins."""
        for number in self._closing:
            self._kinds.pop(number, None)
        self._closing.clear()

    def _open(self, name: str, arguments: Arguments, number: int) -> None:
        kind, flags, bit = OPENINGS[name]
        if name == "socket":
            kind = _of_family(arguments[0])
        elif kind is None:
            kind = self._kinds.get(_number(arguments[0]))
        self._forget(number)
        if kind is not None:
            self._kinds[number] = kind
            closing = name == "fcntl" and arguments[1] == _DUPLICATE_CLOSING
            self._mark(number, closing=closing or (flags is not None and bool(arguments[flags] & bit)))

    def _forget(self, number: int) -> None:
        self._kinds.pop(number, None)
        self._closing.discard(number)

    def _mark(self, number: int, *, closing: bool) -> None:
        if closing:
            self._closing.add(number)
        else:
            self._closing.discard(number)


def _number(register: int) -> int:
    """The kernel looks at the lower half alone."""
    return register & 0xFFFFFFFF


def _of_family(family: int) -> Count:
    return "ipc_calls" if family == socket.AF_UNIX else "network_calls"
