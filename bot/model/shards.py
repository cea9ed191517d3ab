"""Shards: the parts of one analysis that several machines measure, and what each of them leaves."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from bot.model.errors import UsageError

ShardMode: TypeAlias = Literal["pull_request", "nightly"]
MOST_SHARDS = 256
"""Jobs that a matrix of GitHub Actions may have."""
_Seed: TypeAlias = Annotated[int, Field(ge=0, lt=2**32)]
_Text: TypeAlias = Annotated[str, Field(max_length=300)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)


class Shard(_Strict):
    """One job of a matrix: an entry of `include`.

    shard: its number, from 0. base, head: full ids (of a night: its oldest known revision is its own affair,
    and base is empty). budget: its own share, in seconds. seed: of its own orders and draws. sample_seed: of
    the sample, which all shards share. plan: what all jobs of one matrix, and only they, have in common.
    """

    shard: Annotated[int, Field(ge=0, lt=MOST_SHARDS)]
    shards: Annotated[int, Field(ge=1, le=MOST_SHARDS)]
    runs_on: _Text = Field("", alias="runs-on")
    mode: ShardMode = "pull_request"
    base: _Text = ""
    head: _Text
    budget: Annotated[float, Field(gt=0)]
    seed: _Seed
    sample_seed: _Seed
    plan: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]

    @property
    def consistent(self) -> bool:
        """Whether it says of itself what a plan would."""
        return self.shard < self.shards and self == _shard(self, self.shard, self.runs_on)


class Plan(_Strict):
    """A matrix: every shard of one analysis."""

    include: tuple[Shard, ...]


class Stored(_Strict):
    """A file in a shard's folder: its size in bytes and the SHA-256 of its content."""

    name: Annotated[str, Field(max_length=120)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(_Strict):
    """What a shard's folder holds; written last, so that a folder without one is unfinished.

    architecture: of the machine, as the kernel names it; counts are comparable within one. version: of the
    tool. notes: what this machine could not give, one sentence each.
    """

    format: Literal[1] = 1
    shard: Shard
    architecture: _Text = ""
    version: _Text = ""
    files: tuple[Stored, ...] = Field((), max_length=16)
    notes: tuple[Annotated[str, Field(max_length=4000)], ...] = Field((), max_length=100)


def planned(
    shards: int,
    *,
    head: str,
    base: str = "",
    mode: ShardMode = "pull_request",
    budget: float,
    sample_seed: int,
    runners: tuple[str, ...] = ("",),
) -> Plan:
    """All shards of an analysis; each has an equal part of the budget (seconds), runners are dealt out.

    Raises:
        UsageError: no matrix has so many jobs.
    """
    if not 1 <= shards <= MOST_SHARDS:
        raise UsageError(f"--shards {shards}: 1 to {MOST_SHARDS} jobs can be in one matrix")
    first = Shard(
        shard=0,
        shards=shards,
        mode=mode,
        base=base,
        head=head,
        budget=budget / shards,
        seed=0,
        sample_seed=sample_seed,
        plan="0" * 16,
    )
    return Plan(include=tuple(_shard(first, k, runners[k % len(runners)]) for k in range(first.shards)))


def _shard(like: Shard, number: int, runs_on: str) -> Shard:
    common = like.model_dump_json(include={"shards", "mode", "base", "head", "budget", "sample_seed"})
    own = hashlib.sha256(f"{like.sample_seed}/{number}".encode()).digest()
    plan = hashlib.sha256(common.encode()).hexdigest()[:16]
    return like.model_copy(
        update={"shard": number, "runs_on": runs_on, "seed": int.from_bytes(own[:4], "big"), "plan": plan}
    )
