"""Confines the calling process and runs a command in it: session, account, limits, cores, no network."""

# Runs as a program of its own before every build and inside every worker: standard library only, few imports.

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn, TypedDict

    class Spec(TypedDict, total=False):
        """What to do; a missing key means: leave as it is.

        uid, gid: the account (only root can change it). network: False takes it away. limits: see `LIMITS`,
        numbers in seconds, bytes or counts. cpus: core numbers. new_session: default True.
        """

        uid: int | None
        gid: int | None
        network: bool
        limits: Mapping[str, int]
        cpus: Sequence[int] | None
        cwd: str | None
        new_session: bool


LIMITS = {
    "cpu_seconds": resource.RLIMIT_CPU,
    "address_space": resource.RLIMIT_AS,
    "memory": resource.RLIMIT_DATA,  # counts what can be written, not what a runtime only reserves
    "processes": resource.RLIMIT_NPROC,
    "open_files": resource.RLIMIT_NOFILE,
    "file_size": resource.RLIMIT_FSIZE,
    "core": resource.RLIMIT_CORE,
}
NO_SUCH_COMMAND = 127
CANNOT_CONFINE = 126

_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 22, 36, 38
_SECCOMP_MODE_FILTER = 2
# machine -> (AUDIT_ARCH, number of socket(2)); io_uring_setup, which can open sockets too, is 425 on both.
_ARCHITECTURES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
_IO_URING_SETUP = 425
_AF_UNIX = 1
_OTHER_ABI = 0x40000000  # system call numbers from here on belong to x32, which would go round the filter

_libc = ctypes.CDLL(None, use_errno=True)


class _FilterProgram(ctypes.Structure):
    """struct sock_fprog of linux/filter.h."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _prctl(option: int, argument: int | object) -> None:
    if _libc.prctl(option, argument, 0, 0, 0) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def adopt_orphans() -> None:
    """Descendants whose parents died become children of this process (Linux child subreaper)."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def give_up_privileges() -> None:
    """Nothing this process executes can gain privileges (set-uid programs)."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def die_with_parent() -> None:
    """This process is killed when the thread that forked it ends; a change of account resets it."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _socket_filter(architecture: int, socket_call: int) -> bytes:
    """Classic BPF over struct seccomp_data: only AF_UNIX sockets, no io_uring, no other call table."""
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    allow, error = 0x7FFF0000, 0x00050000
    code = (
        (load, 0, 0, 4),  # architecture
        (equal, 0, 6, architecture),
        (load, 0, 0, 0),  # system call number
        (at_least, 4, 0, _OTHER_ABI),
        (equal, 4, 0, _IO_URING_SETUP),
        (equal, 0, 4, socket_call),
        (load, 0, 0, 16),  # first argument: the address family
        (equal, 2, 0, _AF_UNIX),
        (answer, 0, 0, error | errno.EACCES),
        (answer, 0, 0, error | errno.ENOSYS),
        (answer, 0, 0, allow),
    )
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _forbid_sockets() -> None:
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise OSError(errno.ENOSYS, f"no socket filter for {machine}")
    code = _socket_filter(*_ARCHITECTURES[machine])
    give_up_privileges()  # the kernel's condition for a filter without privilege
    program = _FilterProgram(len(code) // 8, code)
    if _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def leave_network() -> str:
    """Takes the network from this process and all it starts; "namespace" or "filter" says how.

    A network namespace costs nothing per system call but needs a privilege that containers lack; the filter
    of system calls works everywhere else.

    Raises:
        OSError: neither is possible here.
    """
    if os.geteuid() == 0 and _libc.unshare(_CLONE_NEWNET) == 0:
        return "namespace"
    _forbid_sockets()
    return "filter"


def set_limits(limits: Mapping[str, int]) -> None:
    """Sets resource limits (names of `LIMITS`), never above the hard limit this process already has."""
    for name, value in limits.items():
        kind = LIMITS[name]
        hard = resource.getrlimit(kind)[1]
        allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (allowed, allowed))


def become(uid: int | None, gid: int | None) -> None:
    """Changes to an account without supplementary groups; None or not root: stays."""
    if uid is None or os.geteuid() != 0:
        return
    os.setgroups([])
    group = uid if gid is None else gid
    os.setresgid(group, group, group)
    os.setresuid(uid, uid, uid)


def confine(spec: Spec) -> None:
    """Confines this process as `spec` says; what it executes afterwards inherits everything.

    Raises:
        OSError: a demand of the specification cannot be met here.
    """
    if spec.get("new_session", True):
        os.setsid()
    cpus = spec.get("cpus")
    if cpus:
        os.sched_setaffinity(0, cpus)
    if not spec.get("network", True):
        leave_network()
    set_limits(spec.get("limits", {}))
    become(spec.get("uid"), spec.get("gid"))
    give_up_privileges()
    os.umask(0o022)
    cwd = spec.get("cwd")
    if cwd:
        os.chdir(cwd)
    # Python ignores these two; a program expects their defaults, and exec would hand the ignoring on.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def find_command(name: str, search_path: str) -> str:
    """Where `name` lies on a PATH (as it is, when it holds a slash); the first hit that may be executed.

    Raises:
        OSError: there is none (ENOENT), or none that this account may execute (EACCES).
    """
    candidates = [name] if "/" in name else [f"{folder or '.'}/{name}" for folder in search_path.split(":")]
    seen = False
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return candidate
        # A file in a folder we may not search looks absent, except to lstat's error.
        try:
            os.lstat(candidate)
            seen = True
        except PermissionError:
            seen = True
        except OSError:
            continue
    number = errno.EACCES if seen else errno.ENOENT
    raise OSError(number, os.strerror(number), name)


def execute(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Becomes `command`. Not os.execvpe: that imports modules this account may not be able to read.

    Raises:
        OSError: it does not exist or cannot be executed.
    """
    path = find_command(command[0], environment.get("PATH", os.defpath))
    os.execve(path, list(command), dict(environment))  # noqa: S606  (no shell is the point)


def missing_here() -> list[str]:
    """What this machine cannot give, one sentence each; changes this process: only for a throw-away one."""
    sentences = []
    if os.geteuid() != 0:
        sentences.append("Not running as root: the program under test runs under our own account.")
    try:
        leave_network()
    except OSError as error:
        sentences.append(f"The network cannot be taken from trials on this machine ({error.strerror}).")
    if os.geteuid() == 0:
        try:
            become(65534, 65534)
        except OSError as error:
            sentences.append(f"The account cannot be changed although we are root ({error.strerror}).")
    try:
        give_up_privileges()
    except OSError as error:
        sentences.append(f"Set-uid programs cannot be disarmed on this machine ({error.strerror}).")
    return sentences


def what_is_missing() -> list[str]:
    """`missing_here`, asked in a process of its own (about 30 ms)."""
    import subprocess  # not needed, and not paid for, by the confined program

    command = [sys.executable, "-I", "-S", __file__, "--missing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        return [f"What this machine can isolate could not be found out: {done.stderr.strip()[-200:]}"]
    answer: list[str] = json.loads(done.stdout)
    return answer


def main(arguments: Sequence[str]) -> int:
    """`confine.py SPEC_JSON -- command arguments...`, or `--missing`."""
    if list(arguments) == ["--missing"]:
        sys.stdout.write(json.dumps(missing_here()))
        return 0
    specification, dashes, *command = arguments
    if dashes != "--" or not command:
        sys.stderr.write("usage: confine.py SPEC_JSON -- command arguments...\n")
        return 2
    try:
        confine(json.loads(specification))
    except OSError as error:
        sys.stderr.write(f"cannot confine {command[0]}: {error.strerror} {error.filename or ''}\n")
        return CANNOT_CONFINE
    os.closerange(3, 1 << 16)
    try:
        execute(command, os.environ)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
    return NO_SUCH_COMMAND


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
