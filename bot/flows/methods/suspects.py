"""Which methods carry a change: profiles of flagged configurations, and of an unflagged one as a control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.analysis.methods.blame import Blame, Compared, MethodChange, blame
from bot.analysis.methods.control import beyond_control, moved_anyway
from bot.analysis.methods.flame import flame
from bot.analysis.methods.identity import pair
from bot.flows.history.memory import recall_terms
from bot.flows.methods.choice import Flagged, choose
from bot.flows.methods.profiling_rounds import Profiled, ProfilingRounds
from bot.flows.methods.proof import LEAST_SHARE, prove
from bot.flows.ports import Bench, ProfileBench
from bot.flows.run.job import Job
from bot.model.profiles import Method, Profile
from bot.model.report_methods import CodePlace, ComparedProfile, MethodSuspect
from bot.model.space import Configuration
from bot.model.subject import Program
from bot.model.trials import Side

METRICS = ("cpu", "wall")
"""Their changes are explained by methods."""
PROVING_SHARE = 0.3
"""Of the time for methods, kept for measuring what reverting one restores."""
RELEVANT = 1e-3
"""Share of a profile's cost from which on a method's text is read."""
MOST_TEXTS = 5000
METHODS = 10
"""Told for each configuration."""
WELL_KNOWN = 0.2
"""Width of a share's interval that needs no more profiles."""


SHORT = (
    "The change became certain late: methods were profiled in one flagged configuration, the quickest one. "
    "A larger --budget leaves more time for them."
)


@dataclass(frozen=True)
class MethodFindings:
    """What the profiles came to, in the report's terms."""

    suspects: tuple[MethodSuspect, ...] = ()
    profiles: tuple[ComparedProfile, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class MethodInquiry:
    """Profiles what was flagged, until `until` seconds on the bench's clock.

    short: whether that is much less time than methods are meant to have.
    """

    job: Job
    bench: Bench
    flagged: Flagged
    until: float
    short: bool = False
    _blamed: dict[tuple[Configuration, int], Blame] = field(default_factory=dict)
    _texts: dict[Side, dict[Method, str]] = field(default_factory=lambda: {"base": {}, "head": {}})

    def run(self) -> MethodFindings:
        """Methods of each flagged configuration, largest share first; whatever fails ends in notes."""
        chosen, control = choose(self.job.subject.space, self.flagged, short=self.short)
        if not chosen or self.job.open_profiles is None:
            return MethodFindings()
        profiles = self.job.open_profiles()
        if missing := profiles.missing():
            return MethodFindings(notes=(*missing, "Methods were not profiled."))
        now = self.bench.elapsed()
        rounds = ProfilingRounds(
            profiles,
            clock=self.bench.elapsed,
            until=self.until,
            kept=PROVING_SHARE * (self.until - now) if self.job.open_reverted else 0.0,
            settled=lambda one: _settled(self._blame(profiles, one)),
            tell=self.job.progress.stage,
        )
        wanted = [Profiled(c) for c in chosen] + ([Profiled(control, control=True)] if control else [])
        rounds.run(wanted)
        return self._findings(profiles, wanted, rounds.notes)

    def _findings(
        self, profiles: ProfileBench, wanted: Sequence[Profiled], notes: Sequence[str]
    ) -> MethodFindings:
        """The report's entries of what was profiled well enough."""
        said = [*notes]
        if self.short and any(one.enough for one in wanted):
            said.append(SHORT)
        anyway: Mapping[Method, float] = {}
        for one in wanted:
            if one.control and one.enough:
                anyway = moved_anyway(self._asked(profiles, one))
        suspects: list[MethodSuspect] = []
        compared: list[ComparedProfile] = []
        for one in wanted:
            if not one.enough:
                left = max(self.until - self.bench.elapsed(), 0.0)
                said += [] if one.control else [STRIPPED if one.nameless else _too_short(left)]
                continue
            found = self._blame(profiles, one)
            if not one.control:
                base, head = self._seconds(one.configuration)
                found = _foremost(beyond_control(found, head - base, anyway))
                said += found.notes
                suspects += [self._suspect(one, change) for change in found.changes]
            compared.append(self._compared(profiles, one, found))
        if suspects:
            suspects = self._standing(profiles, self._driven(suspects))
            suspects[0], note = self._proved(suspects[0])
            said += [note] if note else []
        return MethodFindings(tuple(suspects), tuple(compared), tuple(dict.fromkeys(said)))

    def _blame(self, profiles: ProfileBench, one: Profiled) -> Blame:
        """The methods that moved in one configuration, from all its profiles so far."""
        key = one.configuration, sum(map(len, one.sides.values()))
        if key not in self._blamed:
            self._blamed[key] = blame(self._asked(profiles, one))
        return self._blamed[key]

    def _asked(self, profiles: ProfileBench, one: Profiled) -> Compared:
        return Compared(
            one.sides["base"],
            one.sides["head"],
            seconds=self._seconds(one.configuration),
            interval=self._interval(one.configuration),
            bodies=self._bodies(profiles, one),
        )

    def _bodies(
        self, profiles: ProfileBench, one: Profiled
    ) -> tuple[Mapping[Method, str], Mapping[Method, str]]:
        """Texts of the methods that cost something, or that one side alone has; each is read once."""
        seen = {side: {m for profile in found for m in profile.methods} for side, found in one.sides.items()}
        dear = {m for found in one.sides.values() for profile in found for m in costly(profile)}
        for side, methods in seen.items():
            other = seen["head" if side == "base" else "base"]
            known = self._texts[side]
            wanted = [m for m in methods if (m in dear or m not in other) and m not in known]
            known.update(dict.fromkeys(wanted, ""))
            known.update(profiles.bodies(side, wanted[:MOST_TEXTS]))
        base, head = ({m: text for m, text in self._texts[side].items() if text} for side in ("base", "head"))
        return base, head

    def _seconds(self, configuration: Configuration) -> tuple[float, float]:
        seconds = self.flagged.seconds[configuration]
        return seconds, seconds * (self.flagged.changes[configuration].ratio or 1.0)

    def _interval(self, configuration: Configuration) -> tuple[float, float]:
        return self.flagged.changes[configuration].interval or (1.0, 1.0)

    def _suspect(self, one: Profiled, change: MethodChange) -> MethodSuspect:
        method = change.method
        return MethodSuspect(
            method=method.name,
            file=method.file,
            line=method.line,
            base_self_seconds=change.self_seconds[0],
            head_self_seconds=change.self_seconds[1],
            calls=change.calls,
            share_of_change=change.share,
            change=change.change,
            interval=change.interval,
            instructions=change.instructions,
            callers=tuple(caller.name for caller in change.callers),
            owner=_place(change.owner) if change.owner else None,
            was=change.was.name if change.was else None,
            same_text=change.same_text,
            with_callees=change.with_callees,
            options=self.job.subject.space.as_dict(one.configuration),
        )

    def _driven(self, suspects: Sequence[MethodSuspect]) -> list[MethodSuspect]:
        """With the terms that drive each method, as far as nights have learnt it."""
        methods = {suspect.method: Method(suspect.method, suspect.file) for suspect in suspects}
        terms = recall_terms(self.job.memory, self.job.subject, list(methods.values()), self.job.rng)
        return [s.model_copy(update={"terms": terms.get(methods[s.method], ())}) for s in suspects]

    def _standing(self, profiles: ProfileBench, suspects: Sequence[MethodSuspect]) -> list[MethodSuspect]:
        """With whether those that one side alone called stand in both checkouts."""
        program = self.job.subject.program
        native = isinstance(program, Program) and program.runtime == "native"
        said = {"stands": "perhaps inlined" if native else "called"}
        one_sided = [s for s in suspects if s.change in ("new", "vanished") and s.file is not None]
        methods = [Method(s.method, s.file) for s in one_sided]
        found = [profiles.bodies(side, methods) if methods else {} for side in ("base", "head")]
        stands = [s for s, m in zip(one_sided, methods, strict=True) if all(m in texts for texts in found)]
        return [s.model_copy(update=said) if s in stands else s for s in suspects]

    def _proved(self, suspect: MethodSuspect) -> tuple[MethodSuspect, str]:
        """The first suspect with what reverting its change alone restores, or why that is not known."""
        space = self.job.subject.space
        configuration = tuple(suspect.options[name] for name in space.names)
        change = self.flagged.changes[configuration]
        untouched = suspect.same_text or suspect.change in ("new", "vanished")
        if suspect.share_of_change < LEAST_SHARE or untouched:  # there is no change in it to be reverted
            return suspect, ""
        proof = prove(
            self.job,
            Method(suspect.method, suspect.file, suspect.line),
            configuration,
            change=change,
            seconds=self.until - self.bench.elapsed(),
        )
        return suspect.model_copy(
            update={"restored": proof.restored, "restored_interval": proof.interval}
        ), proof.note

    def _compared(self, profiles: ProfileBench, one: Profiled, found: Blame) -> ComparedProfile:
        base, head = self._seconds(one.configuration)
        before, after = one.sides["base"][0], one.sides["head"][0]
        paired = pair(before.methods, after.methods, bodies=self._bodies(profiles, one))
        spent = min(profile.seconds for profile in one.sides["base"])
        return ComparedProfile(
            options=self.job.subject.space.as_dict(one.configuration),
            control=one.control,
            tool=f"{after.tool.name} {after.tool.version}".strip(),
            blind=after.tool.blind,
            change_seconds=head - base,
            unexplained=None if one.control else found.unexplained,
            overhead=spent / base if base > 0 else None,
            samples=_fewest(one),
            flame=flame(before, after, paired, (base, head)),
        )


STRIPPED = (
    "Methods of a flagged configuration were not compared: nearly all of its time went in code without "
    "names, and more time would not help. A build that is not stripped (no strip, no -s) has them."
)


def _place(method: Method) -> CodePlace:
    return CodePlace(method=method.name, file=method.file or "", line=method.line)


def costly(profile: Profile) -> Iterator[Method]:
    """Methods with `RELEVANT` of a profile's cost, by themselves or with callees."""
    yield from (method for method, cost in profile.methods.items() if cost.self_share >= RELEVANT)
    whole = max((cost.total for cost in profile.edges.values()), default=0.0)
    for ends, cost in profile.edges.items():
        if cost.total >= RELEVANT * whole:
            yield from ends


def _settled(found: Blame) -> bool:
    """Whether more profiles would tell little: shares are known, and something has one."""
    widths = [high - low for low, high in (change.interval for change in found.changes)]
    return bool(widths) and max(widths) <= WELL_KNOWN


def _foremost(found: Blame) -> Blame:
    """The first methods; the shares of all others are unexplained."""
    left = sum(change.share for change in found.changes[METHODS:])
    rest = found.unexplained + left if found.unexplained is not None else None
    return replace(found, changes=found.changes[:METHODS], unexplained=rest)


def _fewest(one: Profiled) -> int | None:
    """Samples of the side that has fewer; None: its profiles have none."""
    taken = [sum(profile.samples or 0 for profile in side) for side in one.sides.values()]
    return min(taken) or None


def _too_short(left: float) -> str:
    return (
        f"Methods of a flagged configuration were not compared: its profiles were not finished ({left:.1f} s "
        "of the budget are left). A larger --budget, or a smaller workload, makes room for them."
    )
