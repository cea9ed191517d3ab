"""Confines the calling process and runs a command in it: session, account, limits, cores, no network."""

# Runs as a program of its own before every build and inside every worker: standard library only, few imports.

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import sys

if __name__ == "__main__":
    sys.path.append(__file__.removesuffix("/bot/adapters/processes/confine.py"))

from bot.adapters.processes import landlock, seccomp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, NoReturn, TypedDict

    class Spec(TypedDict, total=False):
        """What to do; a missing key means: leave as it is.

        uid, gid: the account (only root can change it). network: False takes it away. limits: see `LIMITS`,
        numbers in seconds, bytes or counts. cpus: core numbers. new_session: default True. write, read: the
        files it may touch besides the system's, only: the only ones that it may read, calls: those to the
        system it may make, all where the kernel can hold it to them.
        """

        uid: int | None
        gid: int | None
        network: bool
        limits: Mapping[str, int]
        cpus: Sequence[int] | None
        cwd: str | None
        new_session: bool
        write: Sequence[str] | None
        read: Sequence[str]
        only: Sequence[str]
        calls: Literal["ordinary", "profiler", "reader"] | None


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
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38

_libc = ctypes.CDLL(None, use_errno=True)


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


def leave_network() -> str:
    """Takes the network from this process and all it starts; "namespace" or "filter" says how.

    A network namespace costs nothing per system call but needs a privilege that containers lack; the filter
    of system calls works everywhere else.

    Raises:
        OSError: neither is possible here.
    """
    if os.geteuid() == 0 and _libc.unshare(_CLONE_NEWNET) == 0:
        return "namespace"
    seccomp.forbid_sockets()
    return "filter"


def forbid_rare_calls(*, counters: bool = False) -> None:
    """Takes system calls that no ordinary program needs, where the kernel can; see `seccomp`.

    Raises:
        OSError: it can, and refuses.
    """
    if seccomp.available():
        seccomp.forbid_the_rare(counters=counters)


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
    write, uid = spec.get("write"), spec.get("uid")
    if write is not None and landlock.version() >= landlock.OLDEST:
        # Without an account of its own it could write what is ours in the machine's temporary folders.
        alien = uid is not None and os.geteuid() == 0
        network = spec.get("network", True)
        landlock.restrict(read=spec.get("read", ()), write=write, network=network, anonymous=alien)
    if "only" in spec and landlock.version() >= landlock.OLDEST:
        landlock.only_read(spec["only"])
    become(uid, spec.get("gid"))
    give_up_privileges()
    calls = spec.get("calls")
    if calls == "reader" and seccomp.available():
        seccomp.forbid_acting()
    elif calls is not None:
        forbid_rare_calls(counters=calls == "profiler")
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


def lacks_of_the_kernel() -> list[str]:
    """What this kernel does not have, or is forbidden to give, one sentence each; changes nothing."""
    lacks = [] if landlock.version() >= landlock.OLDEST else [landlock.MISSING]
    return lacks if seccomp.available() else [*lacks, seccomp.MISSING]


def missing_here() -> list[str]:
    """What this machine cannot give, one sentence each; changes this process: only for a throw-away one."""
    sentences = []
    if os.geteuid() != 0:
        sentences.append("Not running as root: the program under test runs under our own account.")
    try:
        leave_network()
    except OSError as error:
        sentences.append(f"The network cannot be taken from trials on this machine ({error.strerror}).")
    sentences += lacks_of_the_kernel()
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
