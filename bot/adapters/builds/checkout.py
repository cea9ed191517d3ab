"""Trees of files on their way from a revision to read-only checkouts: given away, sealed, copied, removed."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path, PurePosixPath

from bot.adapters.processes import process
from bot.model.errors import UsageError
from bot.model.sites import Account


class ForeignFileError(OSError):
    """A tree holds a hard link to a file that is not its account's."""


def inside(root: Path, relative: str) -> Path:
    """Where a path of the configuration file lies in a tree (it need not exist), symbolic links resolved.

    Raises:
        UsageError: it is absolute, or leaves the tree by `..` or by a symbolic link.
    """
    path = PurePosixPath(relative)
    trunk = root.resolve()
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise UsageError(f"{relative!r} must be a path inside the checkout.")
    try:
        real = (trunk / path).resolve()
    except (RuntimeError, OSError):  # a circle of links, a name too long
        raise UsageError(f"{relative!r} cannot be followed inside the checkout.") from None
    if not real.is_relative_to(trunk):
        raise UsageError(f"{relative!r} is a symbolic link that leaves the checkout.")
    return real


def closed_folder(path: Path, account: Account | None) -> Path | None:
    """The first folder on the way to `path` (itself included) that an account may not enter, if any."""
    if account is None:
        return None
    for folder in (*reversed(path.parents), path):
        status = folder.stat()
        search = stat.S_IXOTH
        if status.st_uid == account.uid:
            search = stat.S_IXUSR
        elif status.st_gid == account.gid:
            search = stat.S_IXGRP
        if not status.st_mode & search:
            return folder
    return None


def give(tree: Path, account: Account | None) -> None:
    """Makes an account the owner of a tree, links themselves included; None: it stays ours."""
    if account is not None:
        _tool("chown", "--recursive", "--no-dereference", f"{account.uid}:{account.gid}", "--", str(tree))


def bound(tree: Path) -> None:
    """Lets a tree be the top of a clone that has no commit.

    Trees may lie below a repository. A program that looks upwards for its project (a formatter, a linter)
    would find that one, whose files it may not read and which is neither base nor head; and a build that
    asks git (Go does) would fail on it, because it belongs to somebody else.
    """
    top = tree / ".git"
    if not os.path.lexists(top):
        for name in ("objects", "refs"):
            (top / name).mkdir(parents=True)
        (top / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")


def seal(tree: Path, account: Account | None) -> None:
    """Takes a tree back from an account: ours, readable by everyone, writable by nobody, no set-uid bits.

    Nothing of the account may run any more. A hard link to somebody else's file would be opened to
    everyone here, so it is refused; several names of one file within the tree (what cargo leaves) are not.

    Raises:
        ForeignFileError: a file below does not belong to the account.
        OSError: the tree cannot be changed.
    """
    folders = [tree]
    sealed: set[tuple[int, int]] = set()  # files of several names, which are ours once one of them was met
    _seal_one(tree, tree.lstat())
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if (status.st_dev, status.st_ino) in sealed:
                    continue
                if account is not None and status.st_uid != account.uid:
                    raise ForeignFileError(f"{entry.name} is a link to a file of another user")
                _seal_one(Path(entry.path), status)
                if stat.S_ISDIR(status.st_mode):
                    folders.append(Path(entry.path))
                elif status.st_nlink > 1:
                    sealed.add((status.st_dev, status.st_ino))


def _seal_one(path: Path, status: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        executable = stat.S_ISDIR(status.st_mode) or status.st_mode & 0o111
        path.chmod(0o555 if executable else 0o444)


def unseal(tree: Path, account: Account | None) -> None:
    """Gives a sealed tree (a copy of one) to an account to write in."""
    _tool("chmod", "--recursive", "u+w", "--", str(tree))
    give(tree, account)


def fingerprint(tree: Path) -> str:
    """A digest of names, kinds, modes, sizes, dates (whole seconds, what archives keep) and link targets."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(tree):
        folders.sort()
        for name in sorted(files + folders):
            path = Path(folder, name)
            status = path.lstat()
            facts: list[object] = [str(path.relative_to(tree)), status.st_mode]
            if stat.S_ISLNK(status.st_mode):
                facts.append(str(path.readlink()))
            elif not stat.S_ISDIR(status.st_mode):
                facts += [status.st_size, int(status.st_mtime)]
            digest.update(f"{facts!r}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def copy(source: Path, target: Path) -> None:
    """Copies a file or tree with modes, owners, dates and links; no byte is shared with the source."""
    _tool("cp", "--archive", "--reflink=auto", "--no-target-directory", "--", str(source), str(target))


def link_copy(source: Path, target: Path) -> None:
    """Copies a tree whose files are hard links to the source's (plain copies on another file system)."""
    try:
        _tool("cp", "--archive", "--link", "--no-target-directory", "--", str(source), str(target))
    except OSError:
        remove(target)
        copy(source, target)


def remove(tree: Path) -> None:
    """Removes a file or tree of any depth and any modes; nothing there is fine."""
    if not os.path.lexists(tree):
        return
    if os.geteuid() != 0 and not tree.is_symlink():
        process.run_trusted(["chmod", "--recursive", "--silent", "u+rwX", "--", str(tree)])
    _tool("rm", "--recursive", "--force", "--one-file-system", "--", str(tree))


def _tool(*command: str) -> None:
    done = process.run_trusted(command)
    if done.code != 0:
        raise OSError(done.error.splitlines()[0] if done.error else f"{command[0]} failed")
