"""The image and its containers, without a registry: Debian's own packages, buildah and podman."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.container.docker_like import CAPABILITIES, seccomp_profile

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("apt-get", "mmdebstrap", "buildah", "podman", "runc", "conmon")
IMAGE = "localhost/suspects-under-test:latest"
SUITE = "trixie"
"""Of the image; the machine's own may be another: both are on the same archives."""
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "suspects-tests" / "container"
_RUN = Path("/run/suspects-tests-container")
"""Podman remembers where this was, so that it is always the same."""
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_SLIM = ("doc/*", "groff/*", "info/*", "lintian/*", "locale/*", "man/*")
"""What slim images leave out of /usr/share."""
_LIMITS = ("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096")
"""Podman's own are higher than a machine for tests may allow."""
_PATIENCE = 600.0
"""Seconds for one container; only a failing test takes so long."""


class Engine:
    """Images in a storage of their own, which survives, so that unchanged layers are not built again.

    Raises:
        AssertionError: a tool is missing, or we are not root.
    """

    def __init__(self, temporary: Path) -> None:
        missing = [name for name in TOOLS if shutil.which(name) is None]
        assert not missing, f"please install {' '.join(missing)}"
        assert os.geteuid() == 0, "containers with Docker's rights can only be started by root"
        self._profile = temporary / "seccomp.json"
        self._profile.write_text(json.dumps(seccomp_profile()))
        _CACHE.mkdir(parents=True, exist_ok=True)
        self._storage = ["--root", str(_CACHE / "storage"), "--runroot", str(_RUN), *_driver()]
        self._podman = [
            *("podman", *self._storage, "--runtime", "runc", "--cgroup-manager", "cgroupfs"),
            *("--events-backend", "none"),
        ]
        self.build_seconds = 0.0

    def build(self) -> None:
        """The image of the unmodified Dockerfile, over a base image made of Debian's packages."""
        began = time.monotonic()
        recipe = ROOT / "Dockerfile"
        name = re.findall(r"^FROM (\S+)$", recipe.read_text(), re.MULTILINE)
        assert name == [f"debian:{SUITE}-slim"], name
        self._import_base(f"docker.io/library/{name[0]}")
        trusted = ["--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro"] if _CERTIFICATES.exists() else []
        _done(
            *("buildah", *self._storage, "build", "--isolation", "chroot", "--pull-never", "--layers"),
            *trusted,
            *("--tag", IMAGE, "--file", str(recipe), str(ROOT)),
        )
        _done("buildah", *self._storage, "rmi", "--prune")
        self.build_seconds = time.monotonic() - began

    def image(self) -> Mapping[str, Any]:
        """What the engine knows of the image: `Size` in bytes, `Config`."""
        described: list[dict[str, Any]] = json.loads(_done(*self._podman, "image", "inspect", IMAGE))
        return described[0]

    def start(self, *arguments: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """One container from start to end; it is removed. `how` is what `command` takes."""
        command = self.command(*arguments, **how)
        return subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)

    def command(
        self,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        mounts: Mapping[Path, str] | None = None,
        entrypoint: Sequence[str] | None = None,
        workdir: str | None = None,
    ) -> Sequence[str]:
        """What starts a container with the rights that Docker gives."""
        options = ["--cap-drop", "all", "--cap-add", ",".join(CAPABILITIES)]
        options += ["--security-opt", f"seccomp={self._profile}", "--unsetenv", "container"]
        options += [f"--volume={path}:{place}" for path, place in (mounts or {}).items()]
        options += [f"--env={name}={value}" for name, value in (environment or {}).items()]
        if workdir is not None:
            options.append(f"--workdir={workdir}")
        if entrypoint is not None:
            options.append(f"--entrypoint={json.dumps(list(entrypoint))}")
        # The fake GitHub listens on loopback; bridges need rights that a machine for tests may not have.
        run = [*self._podman, "run", "--rm", "--pull", "never", "--network", "host", *_LIMITS]
        return [*run, *options, IMAGE, *arguments]

    def close(self) -> None:
        """No container and no mount of ours stays; the layers do."""
        _done(*self._podman, "rm", "--all", "--force", "--time", "0")
        _done("buildah", *self._storage, "rm", "--all")  # of a build that failed
        # The storage's folder is mounted on itself by then.
        subprocess.run(["umount", "--recursive", "--quiet", _CACHE / "storage/overlay"], capture_output=True)

    def _import_base(self, name: str) -> None:
        command, sources = _bootstrap()
        key = hashlib.sha256("\n".join([*command, sources]).encode()).hexdigest()[:16]
        archive = _CACHE / f"base-{key}.tar"
        if not archive.exists():
            for old in _CACHE.glob("base-*.tar"):
                old.unlink()
            with tempfile.TemporaryDirectory(dir=_CACHE) as folder:
                made = Path(folder, "base.tar")
                _done(*command, SUITE, made, *(["-"] if sources else []), given=sources)
                made.rename(archive)
        known = _done(
            *self._podman,
            "images",
            "--quiet",
            "--filter",
            f"label=base={key}",
            "--filter",
            f"reference={name}",
        )
        if not known.strip():
            _done(*self._podman, "import", "--change", f"LABEL base={key}", archive, name)


def _bootstrap() -> tuple[Sequence[str], str]:
    """The command that makes the base image, and the archives of this machine ("": the command's own)."""
    wanted = "$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    listed = _done("apt-get", "indextargets", "--format", wanted, "Created-By: Packages")
    lines = [line.removeprefix("Debian ") for line in listed.splitlines() if line.startswith("Debian deb ")]
    # The suite's own, its updates and its security: the same archives have those of other suites.
    mine = [re.sub(r"(?<= )[a-z]+(?=(-[a-z]+)? )", SUITE, line, count=1) for line in lines]
    command = ["mmdebstrap", "--quiet", "--variant=apt", "--include=ca-certificates"]
    command += [f"--dpkgopt=path-exclude=/usr/share/{path}" for path in _SLIM]
    command += ["--dpkgopt=path-include=/usr/share/doc/*/copyright", "--dpkgopt=force-unsafe-io"]
    return command, "".join(f"{line}\n" for line in mine)


def _driver() -> Sequence[str]:
    """Overlays, by the kernel where that can be: not on top of another overlay."""
    kind = _done("stat", "--file-system", "--format=%T", _CACHE).strip()
    options = ["--storage-driver", "overlay"]
    if kind == "overlayfs":
        options += ["--storage-opt", "overlay.mount_program=/usr/bin/fuse-overlayfs"]
    return options


def _done(*command: str | Path, given: str | None = None) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, input=given)
    assert done.returncode == 0, (
        f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    )
    return done.stdout


@contextmanager
def opened() -> Iterator[Engine]:
    """The engine with its image built; two runs at once take turns."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="suspects-container-") as folder,
        (_CACHE / "lock").open("w") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        engine = Engine(Path(folder))
        try:
            engine.build()
            yield engine
        finally:
            engine.close()
