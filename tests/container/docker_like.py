"""What Docker gives a container by default: capabilities, and a profile of system calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CAPABILITIES = (
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
    "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
)  # fmt: skip
_INSTALLED = Path("/usr/share/containers/seccomp.json")
"""Podman's profile: it grew out of Docker's, and allows more."""
_REFUSED = {
    "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_tree",
    "pivot_root", "setns", "syslog", "umount", "umount2", "unshare",
    "get_mempolicy", "mbind", "set_mempolicy",
    "add_key", "keyctl", "request_key",
    "io_uring_enter", "io_uring_register", "io_uring_setup", "pidfd_getfd", "userfaultfd",
}  # fmt: skip
"""What Docker refuses besides: for want of SYS_ADMIN, SYS_NICE or SYS_PTRACE, or to everybody."""
_NAMESPACES = 0x7E020000
"""The flags of clone(2) that make name spaces."""
_EPERM, _ENOSYS = 1, 38


def seccomp_profile() -> dict[str, Any]:
    """Docker's default profile, for a container without further capabilities, from what podman installs."""
    profile: dict[str, Any] = json.loads(_INSTALLED.read_text())
    refused = _REFUSED | {"clone", "clone3"}
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name not in refused]
    profile["syscalls"] = [rule for rule in profile["syscalls"] if rule["names"]]
    masked = {"index": 0, "value": _NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    profile["syscalls"] += [
        {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [masked]},
        # Not refused but unknown: the C library then takes clone.
        {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
    ]
    return profile | {"defaultErrnoRet": _EPERM, "defaultErrno": "EPERM"}
