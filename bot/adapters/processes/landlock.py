"""Lets this process, and all it starts, touch only the files it is given, by the kernel's Landlock."""

# Part of confine.py: standard library only, few imports. Bindings exist (`landlock` on PyPI), but they are
# no longer kept, know older versions of the interface, and would have to be found by `python -I -S`, before
# every build and in the worker whose size is the floor of a measured peak memory.

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

OLDEST = 2
"""Before this version of the interface nothing could be renamed from one folder to another."""
KNOWS_PORTS = 4
"""Linux 6.7."""

MISSING = (
    "The files of this machine that are open to every account were open to builds and trials, too: its kernel"
    " has no Landlock (Linux 5.19), or forbids it."
)

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _CONTROL_DEVICE = 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _CONTROL_DEVICE
_READING = _EXECUTE | _READ_FILE | _READ_FOLDER
_FILLING = _READ_FILE | _WRITE_FILE | _TRUNCATE
_DEVICE = _FILLING | _READ_FOLDER | _CONTROL_DEVICE
_MAKE_DEVICES = 1 << 6 | 1 << 11
_BIND_AND_CONNECT_TCP = 0b11
_SIGNALS_AND_ABSTRACT_SOCKETS = 0b11
_RIGHTS = (0, 13, 14, 15, 15, 16)
"""How many kinds of access to files each version knows."""

SYSTEM = (
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/nix/store",
    "/gnu/store", "/snap", "/sys", "/var/lib", "/var/cache", "/run/systemd/resolve", "/run/resolvconf",
    "/run/current-system",
)  # fmt: skip
"""Where programs and what they need lie; not /home, /root, /srv, /mnt, /run, /tmp, nor a runner's folders."""
DEVICES = tuple(
    f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")
)
SHARED_MEMORY = ("/dev/shm", "/dev/mqueue")  # noqa: S108  (where the C library makes it)
TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108  (what is allowed there, not what we write)

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # numbers of the system calls, the same on every machine
_ASK_VERSION = 1
_BENEATH_PATH, _NET_PORT = 1, 2
_PR_SET_NO_NEW_PRIVS = 38

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The kernel's version of the interface; 0: it has none, or forbids it."""
    return max(0, int(_libc.syscall(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION)))


def restrict(*, read: Sequence[str], write: Sequence[str], network: bool, anonymous: bool) -> None:
    """From now on: `read` and the system can be read and executed, `write` written too, all else neither.

    Missing paths are left out. network: TCP stays. anonymous: existing files in the machine's temporary
    folders can be opened, as far as their modes allow, and unnamed ones made (C's tmpfile), but none created.
    Where the kernel can, no signal and no abstract socket reaches anything that is not in here too.

    Raises:
        OSError: the kernel cannot, or is too old.
    """
    rules, handled = _rules(network=network)
    writing = handled & ~_MAKE_DEVICES & ~_CONTROL_DEVICE
    try:
        _allow(rules, (*SYSTEM, *read), _READING & handled)
        _allow(rules, ("/proc",), (_READING | _FILLING) & handled)
        _allow(rules, ("/dev",), _READ_FOLDER)
        _allow(rules, DEVICES, _DEVICE & handled)
        _allow(rules, (*SHARED_MEMORY, *write), writing)
        if anonymous:
            _allow(rules, TEMPORARY, _FILLING & handled)
        _enforce(rules)
    finally:
        os.close(rules)


def only_read(paths: Sequence[str]) -> None:
    """From now on files in these places can be read, and nothing else: no others, nor any of them written.

    Missing paths are left out. No TCP, and where the kernel can, no signal to anything that is not in here.

    Raises:
        OSError: the kernel cannot, or is too old.
    """
    rules, _ = _rules(network=False)
    try:
        _allow(rules, paths, _READ_FILE | _READ_FOLDER)
        _enforce(rules)
    finally:
        os.close(rules)


def only_port(port: int) -> None:
    """From now on one TCP port, of any address, can be opened and reached, and no other.

    Raises:
        OSError: the kernel cannot, or is too old.
    """
    attributes = struct.pack("=QQ", 0, _BIND_AND_CONNECT_TCP)
    rules = _call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0)
    try:
        _call(_ADD, rules, _NET_PORT, struct.pack("=QQ", _BIND_AND_CONNECT_TCP, port), 0)
        _enforce(rules)
    finally:
        os.close(rules)


def _rules(*, network: bool) -> tuple[int, int]:
    """A descriptor of new rules, which allow nothing yet, and the kinds of access that they are about."""
    known = version()
    if known < OLDEST:
        raise OSError(errno.ENOSYS, "the kernel has no Landlock of version 2 or later")
    handled = (1 << _RIGHTS[min(known, len(_RIGHTS) - 1)]) - 1
    tcp = 0 if network or known < KNOWS_PORTS else _BIND_AND_CONNECT_TCP
    scoped = _SIGNALS_AND_ABSTRACT_SOCKETS if known >= 6 else 0
    attributes = struct.pack("=QQQ", handled, tcp, scoped)[
        : 8 if known < KNOWS_PORTS else 16 if known < 6 else 24
    ]
    return _call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0), handled


def _enforce(rules: int) -> None:
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:  # the kernel's condition
        _fail()
    _call(_RESTRICT, rules, 0)


def _allow(rules: int, paths: Iterable[str], rights: int) -> None:
    for path in paths:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # what is not there, or cannot be reached, needs no right
        try:
            fit = rights if stat.S_ISDIR(os.fstat(place).st_mode) else rights & _OF_FILES
            if fit:
                _call(_ADD, rules, _BENEATH_PATH, struct.pack("=Qi", fit, place), 0)
        finally:
            os.close(place)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(number, *arguments))
    if result < 0:
        _fail()
    return result


def _fail() -> None:
    code = ctypes.get_errno()
    raise OSError(code, os.strerror(code))
