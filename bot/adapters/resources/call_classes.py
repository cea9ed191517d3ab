"""Classes of system calls: by their names, or by the kind of what they are made on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from bot.adapters.reading.answers import Told
from bot.model.resources import SOURCE_OF, Count

MOST_NAMES = 1000
OF_NAME: Mapping[Count, str] = {
    "memory_calls": "mmap mmap2 munmap brk mprotect mremap madvise process_madvise msync mincore mlock "
    "mlock2 mlockall munlock munlockall mbind get_mempolicy set_mempolicy migrate_pages move_pages "
    "remap_file_pages pkey_alloc pkey_free pkey_mprotect userfaultfd",
    "ipc_calls": "futex futex_waitv pipe pipe2 eventfd eventfd2 signalfd signalfd4 socketpair "
    "epoll_create epoll_create1 poll ppoll select pselect6 shmget shmat shmdt shmctl semget semop "
    "semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend mq_timedreceive "
    "mq_notify mq_getsetattr process_vm_readv process_vm_writev kill tkill tgkill rt_sigqueueinfo "
    "rt_tgsigqueueinfo pidfd_send_signal",
    "filesystem_calls": "open openat openat2 creat stat stat64 lstat lstat64 newfstatat fstatat64 "
    "statx access faccessat faccessat2 readlink readlinkat rename renameat renameat2 unlink unlinkat "
    "mkdir mkdirat rmdir mknod mknodat link linkat symlink symlinkat chmod fchmodat chown lchown "
    "fchownat utime utimes utimensat futimesat truncate getcwd chdir chroot mount umount2 statfs sync "
    "inotify_init inotify_init1 getxattr lgetxattr setxattr lsetxattr listxattr llistxattr removexattr "
    "lremovexattr name_to_handle_at io_submit",
}
"""Calls whose name says all: names, files by path, memory, and what processes tell each other."""
CLASSES = tuple(count for count, source in SOURCE_OF.items() if source == "calls")

COUNT_OF: Mapping[str, Count] = {name: count for count, names in OF_NAME.items() for name in names.split()}


_Name = Annotated[str, Field(pattern=r"^[a-z_0-9]{1,40}$")]


class ToldCalls(Told):
    """Calls by class and name, as a reader tells them.

    ended: whether the first process has, and exit_code, its own; None: a signal killed it. lost: events.
    """

    details: dict[Count, dict[_Name, Annotated[int, Field(ge=0, lt=1 << 62)]]]
    ended: bool = False
    exit_code: Annotated[int, Field(ge=0, le=255)] | None = None
    lost: Annotated[int, Field(ge=0)] = 0

    @property
    def calls(self) -> CallCounts:
        """The same, to count with."""
        found = CallCounts()
        found.details = {count: Counter(names) for count, names in self.details.items()}
        return found


class CallCounts:
    """Counts calls, in memory of a bounded size; details: names of each class's calls."""

    def __init__(self) -> None:
        self.details: dict[Count, Counter[str]] = {}

    @property
    def counts(self) -> Mapping[Count, float]:
        """Calls of each class; empty when there was no call at all."""
        if not self.details:
            return {}
        return {count: float(self.details.get(count, Counter()).total()) for count in CLASSES}

    def count(self, name: str, made_on: Count) -> Count:
        """One call; its class, which is that of what it is made on unless its name says all."""
        count = COUNT_OF.get(name, made_on)
        seen = self.details.setdefault(count, Counter())
        seen[name if name in seen or len(seen) < MOST_NAMES else "others"] += 1
        return count

    def recount(self, name: str, count: Count) -> None:
        """A call that was counted so turned out to be made on nothing: only its name counts."""
        if self.details[count][name] and COUNT_OF.get(name, "other_calls") != count:
            self.details[count] -= Counter([name])
            self.count(name, "other_calls")
