"""Keys of the subject file that say when and how we run: budgets, history, analyses, pull requests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from bot.model.names import Command
from bot.model.quantities import Seconds


class Key(BaseModel):
    """A mapping in the file; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Budget(Key):
    """Wall seconds per mode."""

    pull_request: Seconds = 300.0
    """Of one pull request."""
    nightly: Seconds = 3600.0
    """Of one night."""
    bisect: Seconds = 3600.0
    """Of one bisection."""


class HistoryStore(Key):
    """One place where history lies."""

    store: Literal["branch", "artifact", "directory", "object"]
    """Kind of place."""
    ref: Command | None = None
    """Name of the branch (suspects-history when absent) or of the artifact."""
    path: Command | None = None
    """Folder of a directory, relative to the repository (.suspects/history when absent)."""
    url: Command | None = None
    """Address of a folder in an object store: s3://bucket/folder or gs://bucket/folder."""


class Analysis(Key):
    """How the analyses are computed."""

    backend: Annotated[str, Field(pattern=r"^(local|dask://[A-Za-z0-9._-]+:\d{1,5})$")] = "local"
    """Where influence models are learnt: local, or the scheduler of a Dask cluster as dask://host:port."""


class RunOn(Key):
    """Which pull requests are measured; all conditions that are given must hold."""

    labels: tuple[Command, ...] = ()
    """One of these labels is on it."""
    paths: tuple[Command, ...] = ()
    """It changes a file that one of these patterns matches (*, ?, and ** for folders)."""
    drafts: StrictBool = False
    """Drafts, too."""
