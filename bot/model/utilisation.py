"""Utilisation profiles of a program over machines, as they are told: shares, and what a revision moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.model.machines import StressorClass


@dataclass(frozen=True)
class StressorShare:
    """Share of the time that goes with a stressor (0 to 1), and in how many draws of hardware it has one.

    alike: other stressors that cannot be told apart from it on these machines.
    """

    stressor: str
    classes: tuple[StressorClass, ...]
    share: float
    selected: float
    alike: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClusterShare:
    """Share of the time that goes with stressors that cannot be told apart, with its interval (90 %)."""

    stressors: tuple[str, ...]
    share: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class FactorWeight:
    """A principal component of the machines' rates, by the stressors that load on it most.

    explained: part of the variance of rates. weight: how log time goes with it (standardised).
    """

    stressors: str
    explained: float
    weight: float


@dataclass(frozen=True)
class ProgramProfile:
    """A program's profile; refusal: why there is none (then there are no shares). Errors are relative.

    error: on hardware that was left out; own_error: on the hardware it was learnt from. fitting: "under" or
    "over" where that is why. classes, factors: the same by class and in terms of factors.
    """

    refusal: str = ""
    fitting: str = ""
    shares: tuple[StressorShare, ...] = ()
    clusters: tuple[ClusterShare, ...] = ()
    classes: Mapping[StressorClass, float] = field(default_factory=dict)
    factors: tuple[FactorWeight, ...] = ()
    error: float | None = None
    own_error: float | None = None


@dataclass(frozen=True)
class PublishedImportances:
    """The published profile: importances relative to the largest (100), over seeds; errors as above."""

    importances: Mapping[str, float]
    error: float
    own_error: float
    seeds: int


@dataclass(frozen=True)
class ProfileChange:
    """What moved between two revisions; stressor: None, nothing did. probability: of so much by chance.

    ratio: head / base, geometric mean over machines. share, interval: what was added of the stressor, as a
    share of base's time. ranked: the published comparison's first feature that differs (None: equivalent).
    """

    base: str
    head: str
    refusal: str = ""
    types: int = 0
    ratio: float | None = None
    probability: float | None = None
    stressor: StressorShare | None = None
    interval: tuple[float, float] = (0.0, 0.0)
    ranked: str | None = None


@dataclass(frozen=True)
class Utilisation:
    """All that is known of a program over unlike machines.

    machines: with trials and a fingerprint. revision: whose profile it is; None: of all, because no single
    one ran on enough machines.
    """

    metric: str
    machines: tuple[str, ...]
    types: int
    tool: str
    profile: ProgramProfile
    revision: str | None = None
    published: PublishedImportances | None = None
    change: ProfileChange | None = None
    notes: tuple[str, ...] = ()
