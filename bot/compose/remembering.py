"""Opens the history: from places in the configuration file, `--history` or the default, to one store."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bot.adapters.stores.branch import BranchPlace, Remote, repository_of
from bot.adapters.stores.cache import Cache
from bot.adapters.stores.directory import DirectoryPlace
from bot.adapters.stores.layered import LayeredStore
from bot.adapters.stores.place import Place
from bot.compose.own_folders import own_folder
from bot.compose.subjects import CONFIG, load_checked
from bot.model.errors import UsageError
from bot.model.subject_running import HistoryStore
from bot.settings import Settings

BRANCH = "suspects-history"
ARTIFACT_BYTES = 1 << 30
_ADDRESSES = ("s3://", "gs://", "gcs://")


@dataclass(frozen=True)
class AskedHistory:
    """Which history: `place` (`--history`) wins over the configured places, and those over the default.

    folder: where relative paths begin and whose repository a branch is of. first: a folder before all of
    them, which takes what is added.
    """

    settings: Settings
    configured: Sequence[HistoryStore] = ()
    place: str | None = None
    folder: Path = Path()
    first: Path | None = None


@contextmanager
def opened_history(asked: AskedHistory) -> Iterator[LayeredStore]:
    """The store over all places; it is closed with the context. Places out of reach are its notes.

    Raises:
        UsageError: `--history` cannot be understood, or a place lacks what it needs.
    """
    found = repository_of(asked.folder)
    top = found[1] if found else asked.folder
    copies = _copies(asked.settings, top)
    with ExitStack() as stack:
        places: list[Place] = [DirectoryPlace(asked.first)] if asked.first else []
        notes: list[str] = []
        for wanted in _wanted(asked):
            match wanted.store:
                case "directory":
                    base = asked.folder if asked.place else top
                    path = base / wanted.path if wanted.path else own_folder(top) / "history"
                    places.append(DirectoryPlace(path))
                case "object":
                    # Here, because it loads the libraries of clouds.
                    from bot.adapters.stores.object import ObjectPlace

                    assert wanted.url is not None
                    places.append(ObjectPlace(wanted.url, cache=_cache(copies, wanted.url)))
                case "branch":
                    places += _branches(asked.settings, wanted.ref or BRANCH, found, stack, copies)
                case "artifact":
                    opened = _artifact(asked.settings, wanted.ref, stack, copies)
                    if isinstance(opened, str):
                        notes.append(opened)
                    else:
                        places.append(opened)
        yield LayeredStore(places, notes=notes)


def configured_history(config: Path | None, folder: Path = Path()) -> Sequence[HistoryStore]:
    """The places that a configuration file names; none when there is no file.

    Raises:
        UsageError: the file is wrong, or `config` is missing.
    """
    path = config or folder / CONFIG
    if config is None and not path.is_file():
        return ()
    return load_checked(path).history


def place_of(text: str) -> HistoryStore:
    """What `--history` says: KIND:WHERE, the address of an object store, or the path of a folder.

    Raises:
        UsageError: it says none of these.
    """
    if text.startswith(_ADDRESSES):
        return HistoryStore(store="object", url=text)
    kind, _, where = text.partition(":")
    match kind:
        case "directory" if where:
            return HistoryStore(store="directory", path=where)
        case "branch":
            return HistoryStore(store="branch", ref=where or None)
        case "artifact":
            return HistoryStore(store="artifact", ref=where or None)
        case "object" if where.startswith(_ADDRESSES):
            return HistoryStore(store="object", url=where)
    if text and ":" not in text.partition("/")[0]:
        return HistoryStore(store="directory", path=text)
    raise UsageError(
        f"--history {text!r}: directory:PATH, branch:REF, artifact:NAME, object:s3://BUCKET/FOLDER or a path"
        " is needed"
    )


def _wanted(asked: AskedHistory) -> Sequence[HistoryStore]:
    if asked.place is not None:
        return [place_of(asked.place)]
    if asked.configured:
        return asked.configured
    if asked.settings.on_github:
        return [HistoryStore(store="branch"), HistoryStore(store="artifact")]
    return [HistoryStore(store="directory")]


def _branches(
    settings: Settings, ref: str, found: tuple[str, Path] | None, stack: ExitStack, copies: Path
) -> list[Place]:
    """On GitHub the repository's branch; elsewhere the clone's own one, and its copy of the remote's."""
    name = ref.removeprefix("refs/heads/")
    full, copy = f"refs/heads/{name}", f"refs/remotes/origin/{name}"
    if settings.on_github and settings.repository:
        url = f"{settings.server_url.rstrip('/')}/{settings.repository}"
        remotes = [Remote(url, full, token=settings.github_token)]
    elif found:
        remotes = [Remote(found[0], full, seed=copy), Remote(found[0], copy, writable=False)]
    else:
        raise UsageError("history in a branch needs a git repository; here is none")
    home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="suspects-history-")))
    return [
        BranchPlace(
            remote,
            home=home / str(number),
            cache=_cache(copies, f"{remote.url} {name}"),
            rng=np.random.default_rng(),  # how long to wait for other writers: equal seeds would collide
        )
        for number, remote in enumerate(remotes)
    ]


def _artifact(settings: Settings, ref: str | None, stack: ExitStack, copies: Path) -> Place | str:
    """The artifact, or why there is none."""
    # Here, because they load an HTTP client, which only GitHub needs.
    from bot.adapters.github.artifacts import Caps, GithubArtifacts
    from bot.adapters.stores.artifact import ARTIFACT, ArtifactPlace

    name = ref or ARTIFACT
    if settings.repository is None or settings.github_token is None:
        return f"History in the artifact {name} was left out: GITHUB_REPOSITORY and GITHUB_TOKEN are needed."
    speaking = GithubArtifacts(
        settings.repository,
        settings.github_token,
        api_url=settings.api_url,
        caps=Caps(archive=ARTIFACT_BYTES),
    )
    stack.enter_context(speaking)
    return ArtifactPlace(speaking, cache=_cache(copies, f"{settings.repository} {name}"), name=name)


def _copies(settings: Settings, top: Path) -> Path:
    """Where local copies lie; on GitHub not in the checkout, where a pull request can forge them."""
    if settings.on_github and settings.temp is not None:
        return settings.temp / "suspects-history"
    return own_folder(top) / "copies"


def _cache(copies: Path, of: str) -> Cache:
    """Local copies of one place, apart from those of others."""
    return Cache(copies / hashlib.sha256(of.encode()).hexdigest()[:16])
