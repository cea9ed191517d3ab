"""What of a fork's report may be shown: numbers and allow-listed words; never commands or free text."""

from __future__ import annotations

from bot.flows.publishing.disarm_assertions import disarmed
from bot.flows.publishing.disarm_resources import counted, resource
from bot.flows.publishing.disarm_words import (
    FILE,
    LEVEL,
    MACHINE,
    REVISION,
    WORD,
    kept,
    name,
    options,
    term,
    word,
)
from bot.model.errors import ArtifactError
from bot.model.noise import Noise
from bot.model.report import (
    Acceptance,
    BuildFailure,
    ConfigurationChange,
    Effect,
    Environment,
    History,
    Report,
    RevisionRef,
    Suspects,
    Visible,
    VisibleOption,
)
from bot.model.report_methods import CodePlace, ComparedProfile, FlameNode, MethodSuspect
from bot.model.resources import FEATURES
from bot.model.revisions import WORKLOADS

_STORES = frozenset(("branch", "artifact", "directory", "object"))
_STEPS = frozenset(("setup", "build", "prepare", WORKLOADS))
_MOST_CALLERS, _MOST_PATHS = 50, 1_000
_MOST = 5_000  # entries in any list: far above what a run measures, far below what would hurt
FORK_NOTES = ("Logs and other texts of the pull request's own run are not copied here: see that run.",)


def disarm(report: Report, *, head_sha: str, address: str = "") -> Report:
    """A new report with nothing but numbers and allow-listed words; head is what the API says it is.

    address: of our own repository, where files of this head can be read; the report's is not believed.

    Raises:
        ArtifactError: a name of an option, metric or revision is none, or a list is longer than any run's.
    """
    assert report.base is not None
    suspects, visible = report.suspects, report.visible
    lists = (
        *(report.effects, report.configurations, report.profiles, report.resources),
        *(report.assertions, visible.options),
        *(suspects.options, suspects.methods, suspects.resources, visible.pairs_not_exercised),
    )
    if any(len(entries) > _MOST for entries in lists):
        raise ArtifactError(f"the report has a list of more than {_MOST} entries")
    return Report(
        mode=report.mode,
        subject="",
        repository=address,
        verdict=report.verdict,
        interrupted=report.interrupted,
        base=_revision(report.base.revision),
        head=_revision(head_sha),
        primary_metric=word(report.primary_metric),
        higher_is_better=tuple(word(metric) for metric in report.higher_is_better),
        threshold=report.threshold,
        false_alarms=report.false_alarms,
        effects=tuple(_effect(effect) for effect in report.effects),
        configurations=tuple(_configuration(one) for one in report.configurations),
        suspects=_suspects(suspects),
        profiles=tuple(_profile(one) for one in report.profiles),
        resources=tuple(counted(one) for one in report.resources),
        assertions=tuple(disarmed(one) for one in report.assertions),
        visible=_visible(visible),
        spent=report.spent,
        environment=_environment(report.environment),
        history=_history(report.history),
        build_failures=tuple(_build_failure(one) for one in report.build_failures),
        notes=FORK_NOTES,
    )


def _revision(text: str) -> RevisionRef:
    revision = word(text, REVISION)
    return RevisionRef(revision=revision, label=revision[:12])


def _effect(effect: Effect) -> Effect:
    return Effect(
        metric=word(effect.metric),
        term=term(effect.term),
        aliases=tuple(term(alias) for alias in effect.aliases),
        ratio=effect.ratio,
        interval=effect.interval,
        probability=effect.probability,
        prior=effect.prior,
        significant=effect.significant,
        relevant=effect.relevant,
        base_ratio=effect.base_ratio,
        spared=tuple(term(one) for one in effect.spared),
        accepted=effect.accepted
        and Acceptance(source=effect.accepted.source),  # judged anew by the publisher
    )


def _configuration(change: ConfigurationChange) -> ConfigurationChange:
    return ConfigurationChange(
        options=options(change.options),
        default=change.default,
        metric=word(change.metric),
        ratio=change.ratio,
        interval=change.interval,
        pairs=change.pairs,
        failed_pairs=change.failed_pairs,
        failed_sides=change.failed_sides,
        state=change.state,
    )


def _suspects(suspects: Suspects) -> Suspects:
    return Suspects(
        options=tuple(_effect(effect) for effect in suspects.options),
        methods=tuple(_method(one) for one in suspects.methods),
        resources=tuple(resource(one) for one in suspects.resources if one.feature in FEATURES),
    )


def _method(suspect: MethodSuspect) -> MethodSuspect:
    return MethodSuspect(
        method=name(suspect.method),
        file=kept(suspect.file, FILE),
        line=suspect.line,
        base_self_seconds=suspect.base_self_seconds,
        head_self_seconds=suspect.head_self_seconds,
        calls=suspect.calls,
        share_of_change=suspect.share_of_change,
        terms=tuple(term(one) for one in suspect.terms),
        change=suspect.change,
        interval=suspect.interval,
        instructions=suspect.instructions,
        callers=tuple(name(caller) for caller in suspect.callers[-_MOST_CALLERS:]),
        owner=suspect.owner and _place(suspect.owner),
        was=suspect.was and name(suspect.was),
        stands=suspect.stands,
        same_text=suspect.same_text,
        with_callees=suspect.with_callees,
        restored=suspect.restored,
        restored_interval=suspect.restored_interval,
        options=options(suspect.options),
        assertion=kept(suspect.assertion, WORD) or "",
    )


def _place(place: CodePlace) -> CodePlace | None:
    file = kept(place.file, FILE)
    return CodePlace(method=name(place.method), file=file, line=place.line) if file else None


def _profile(profile: ComparedProfile) -> ComparedProfile:
    paths = profile.flame
    if len(paths) > _MOST_PATHS or any(node.parent >= place for place, node in enumerate(paths)):
        raise ArtifactError(f"the report has call paths that are no tree, or more than {_MOST_PATHS}")
    return ComparedProfile(
        options=options(profile.options),
        control=profile.control,
        tool=kept(profile.tool, MACHINE) or "",
        change_seconds=profile.change_seconds,
        unexplained=profile.unexplained,
        overhead=profile.overhead,
        samples=profile.samples,
        flame=tuple(
            FlameNode(method=name(node.method), parent=node.parent, base=node.base, head=node.head)
            for node in paths
        ),
    )


def _visible(visible: Visible) -> Visible:
    return Visible(
        options=tuple(
            VisibleOption(option=word(one.option), slow_down=one.slow_down) for one in visible.options
        ),
        everything=visible.everything,
        levels_not_exercised=term(visible.levels_not_exercised),
        pairs_not_exercised=tuple(
            (word(first, LEVEL), word(second, LEVEL)) for first, second in visible.pairs_not_exercised
        ),
        pairs_not_exercised_count=visible.pairs_not_exercised_count,
    )


def _environment(environment: Environment) -> Environment:
    return Environment(
        cpu=kept(environment.cpu, MACHINE) or "",
        cores=environment.cores,
        kernel=kept(environment.kernel, MACHINE) or "",
        load=environment.load,
        noise=tuple(
            Noise(
                metric=word(one.metric),
                pairs=one.pairs,
                sd_percent=one.sd_percent,
                bias_percent=one.bias_percent,
            )
            for one in environment.noise
        ),
    )


def _history(history: History) -> History:
    return History(
        source=history.source if history.source in _STORES else None,
        measurements=history.measurements,
        age_days=history.age_days,
    )


def _build_failure(failure: BuildFailure) -> BuildFailure:
    step = failure.step if failure.step in _STEPS else "build"
    return BuildFailure(side=failure.side, step=step, reason="its log is in the pull request's own run")
