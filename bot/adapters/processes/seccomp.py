"""Takes system calls from this process, and all it starts, that no ordinary program needs (seccomp)."""

# Part of confine.py: standard library only, few imports. Bindings to libseccomp exist, but need its library,
# which images lack, and a place where `python -I -S` finds them.

from __future__ import annotations

import ctypes
import errno
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MISSING = "Rarely used system calls were open to builds and trials: this kernel has no seccomp filters."

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""machine -> AUDIT_ARCH, and which number of a call is its."""
_SOCKET, _CLONE, _SECCOMP, _PERF_EVENT_OPEN = (41, 198), (56, 220), (317, 277), (298, 241)
_FORBIDDEN = {
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "userfaultfd": (323, 282), "fanotify_init": (300, 262), "syslog": (103, 116),
    "unshare": (272, 97), "setns": (308, 268), "chroot": (161, 51), "pivot_root": (155, 41),
    "mount": (165, 40), "umount2": (166, 39), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "reboot": (169, 142),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "swapon": (167, 224), "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "sethostname": (170, 161), "setdomainname": (171, 162),
}  # fmt: skip
"""Name -> numbers on x86_64 and aarch64 of calls that answer EPERM: keys, kernel code, mounts, clocks."""
_ACTING = {
    "fork": (57, 220), "vfork": (58, 220), "clone": (56, 220), "execve": (59, 221), "execveat": (322, 281),
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "process_madvise": (440, 440), "kcmp": (312, 272),
    "socketpair": (53, 199), "setpriority": (141, 140), "ioprio_set": (251, 30), "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
    "chmod": (90, 53), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, 54), "fchown": (93, 55), "lchown": (94, 54), "fchownat": (260, 54),
    "utime": (132, 88), "utimes": (235, 88), "futimesat": (261, 88), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47),
    "rename": (82, 38), "renameat": (264, 38), "renameat2": (316, 276), "link": (86, 37), "linkat": (265, 37),
    "unlink": (87, 35), "unlinkat": (263, 35), "rmdir": (84, 35), "mkdir": (83, 34), "mkdirat": (258, 34),
    "symlink": (88, 36), "symlinkat": (266, 36), "mknod": (133, 33), "mknodat": (259, 33),
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "mq_open": (240, 180), "inotify_init1": (294, 26), "flock": (73, 32),
}  # fmt: skip
"""What a process that only reads and computes does not need: processes, signals, changes of files."""
_UNKNOWN = {"clone3": 435, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}
"""Calls that answer ENOSYS, so that libraries fall back: a filter cannot look into what they are given."""
_OTHER_TABLE = 0x40000000  # numbers from here on belong to x32, which would go round the filter
_NEW_NAMESPACES = 0x7E020000
LOCAL = (1,)
"""AF_UNIX."""
ORDINARY = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: not AF_VSOCK, which reaches a host from any network namespace."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _MASK, _ANSWER = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND, _THIRD = 0, 4, 16, 24, 32  # offsets in struct seccomp_data
_Line = tuple[int, int, "str | None", "str | None"]
"""An instruction, its operand, and where it goes when true and when false (None: on)."""
_CLONING: tuple[_Line, ...] = (
    (_LOAD, _FIRST_ARGUMENT, None, None),  # flags
    (_ANY_BIT, _NEW_NAMESPACES, "again refuse", "again allow"),
)
_INTERNET, _STREAM, _TCP = (2, 10), 1, (0, 6)
_STREAMING: tuple[_Line, ...] = (
    (_LOAD, _SECOND, None, None),  # the type, and flags
    (_MASK, 0xF, None, None),
    (_EQUAL, _STREAM, None, "again deny"),
    (_LOAD, _THIRD, None, None),  # the protocol: MPTCP and SCTP would go round rules for TCP's ports
    *((_EQUAL, protocol, "again allow", None) for protocol in _TCP),
    (_ANSWER, _ERROR | errno.EACCES, None, None),
)
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2
_SET_FILTER, _WITHOUT_MITIGATIONS = 1, 4

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def available() -> bool:
    """Whether this kernel has filters, and we know its table of system calls."""
    absent = _libc.prctl(_PR_SET_SECCOMP, _FILTER, None, 0, 0) != 0 and ctypes.get_errno() == errno.EFAULT
    return absent and os.uname().machine in _ARCHITECTURES


def forbid_sockets() -> None:
    """No sockets but those of this machine (AF_UNIX), and no other way to open any.

    Raises:
        OSError: the kernel has no filters, or another table of system calls.
    """
    _install(LOCAL, ())


def allow_streams() -> None:
    """No sockets but those of this machine and TCP's, and no other way to open any.

    Raises:
        OSError: the kernel has no filters, or another table of system calls.
    """
    _install(LOCAL, (), streams=True)


def forbid_the_rare(*, counters: bool = False) -> None:
    """What no ordinary program needs and attacks on kernels begin with. counters: perf events stay.

    Raises:
        OSError: the kernel has no filters, or another table of system calls.
    """
    _install(ORDINARY, (*_FORBIDDEN.values(), *([] if counters else [_PERF_EVENT_OPEN])))


def forbid_acting() -> None:
    """For what only reads and computes: no process, signal or socket, no change of a file's name or mode.

    Files can still be opened for writing: that is Landlock's.

    Raises:
        OSError: the kernel has no filters, or another table of system calls.
    """
    _install((), (*_FORBIDDEN.values(), _PERF_EVENT_OPEN, *_ACTING.values()))


def program(
    machine: str, families: Iterable[int], forbidden: Iterable[tuple[int, int]], *, streams: bool = False
) -> bytes:
    """Classic BPF over struct seccomp_data for a machine; with nothing forbidden only about sockets.

    streams: TCP's sockets are allowed, too.
    """
    architecture, which = _ARCHITECTURES[machine]
    numbers = [numbers[which] for numbers in forbidden]
    unknown = _UNKNOWN.values() if numbers else list(_UNKNOWN.values())[1:]
    lines: list[_Line] = [
        (_LOAD, _ARCHITECTURE, None, None),
        (_EQUAL, architecture, None, "deny"),
        (_LOAD, _NUMBER, None, None),
        (_AT_LEAST, _OTHER_TABLE, "unknown", None),
        *((_EQUAL, number, "unknown", None) for number in unknown),
        *((_EQUAL, number, "refuse", None) for number in numbers),
        *([(_EQUAL, _CLONE[which], "clone", None)] if numbers else []),
        (_EQUAL, _SOCKET[which], None, "allow"),
        (_LOAD, _FIRST_ARGUMENT, None, None),  # the address family
        *((_EQUAL, family, "allow", None) for family in families),
        *((_EQUAL, family, "stream", None) for family in _INTERNET if streams),
    ]
    places = {}
    ends = {"deny": _ERROR | errno.EACCES, "refuse": _ERROR | errno.EPERM, "unknown": _ERROR | errno.ENOSYS}
    for name, answer in {**ends, "allow": _ALLOW}.items():
        places[name] = len(lines)
        lines.append((_ANSWER, answer, None, None))
    for name, block in (("clone", _CLONING), ("stream", _STREAMING)):
        places[name] = len(lines)
        lines += block
    for name, answer in {**ends, "allow": _ALLOW}.items():  # jumps go forward only
        places[f"again {name}"] = len(lines)
        lines.append((_ANSWER, answer, None, None))
    steps = (
        (code, *(places[to] - place - 1 if to else 0 for to in targets), operand)
        for place, (code, operand, *targets) in enumerate(lines)
    )
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _install(families: Iterable[int], forbidden: Iterable[tuple[int, int]], *, streams: bool = False) -> None:
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no filter of system calls for {machine}")
    code = program(machine, families, forbidden, streams=streams)
    given = _Program(len(code) // 8, code)
    # The kernel's condition for a filter without privilege.
    failed = _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
    if not failed:
        # What is filtered need not be slowed down by mitigations too, as kernels before 5.16 do.
        call = _SECCOMP[_ARCHITECTURES[machine][1]]
        done = _libc.syscall(call, _SET_FILTER, _WITHOUT_MITIGATIONS, ctypes.byref(given))
        failed = done != 0 and _libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(given), 0, 0) != 0
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
