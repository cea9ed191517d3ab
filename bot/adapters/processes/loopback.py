"""A network in which a server under test and its client find each other, and nobody else."""

# Part of the worker (duet.py): standard library only, few imports.

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct

from bot.adapters.processes import confine, landlock, seccomp

_CLONE_NEWNET = 0x40000000
_SIOCSIFFLAGS, _IFF_UP_RUNNING = 0x8914, 0x1 | 0x40

_libc = ctypes.CDLL(None, use_errno=True)


def enter() -> str:
    """Moves this process into a network of its own; "namespace".

    "ports": that is not possible here, but `allow_only` is.

    Raises:
        OSError: neither is possible.
    """
    if os.geteuid() == 0 and _libc.unshare(_CLONE_NEWNET) == 0:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            request = struct.pack("16sH14x", b"lo", _IFF_UP_RUNNING)
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)
        return "namespace"
    if landlock.version() < landlock.KNOWS_PORTS:
        raise OSError(errno.ENOSYS, "neither network namespaces nor Landlock's rules for ports")
    return "ports"


def free_port() -> int:
    """A TCP port that nobody has at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def allow_only(port: int) -> None:
    """This process, and all it starts, may open and reach one TCP port (of any address) and nothing else.

    Raises:
        OSError: the kernel refuses.
    """
    confine.give_up_privileges()
    landlock.only_port(port)
    seccomp.allow_streams()
