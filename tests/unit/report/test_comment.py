"""Comments: one golden file per state, hostile content, limits."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from bot.model.report import (
    BuildFailure,
    ConfigurationChange,
    Effect,
    Report,
    Reproduction,
    RevisionRef,
    Suspects,
    Visible,
    VisibleOption,
)
from bot.model.report_methods import MethodSuspect
from bot.report import render
from bot.report.render import comment, summary
from tests.unit.report import assertion_reports, builders, method_reports
from tests.unit.report.builders import effect, report, states
from tests.unit.report.regenerate import EXPECTED, golden

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OURS = re.compile(r"<details><summary>[^<&*`\\]*</summary>|</details>|</?(?:sub|code|span)>|<!-- marker -->")
NAMES = [
    "`</code>` **bold** _it_ ~~no~~",
    "a|b|c",
    "@mona and @github/security",
    "fixes #12, GH-7, github/hub#5",
    "<!-- --> <img src=x onerror=alert(1)> <details>",
    "[text](https://evil.example) ![x](http://evil.example/y.png) www.evil.example",
    "```\n# heading\n- list\n1. one\n> quote\n---\n",
    "\u202egnitceffe\u2066 hidden\u200b\x1b[31m red \x07",
    "$x^2$ $`y`$",
    "\\",
    "-->",
    "n" * 10_000,
    "|" * 10_000,
]


@pytest.mark.parametrize("path", sorted(golden()), ids=lambda p: p.stem)
def test_every_state_is_told_as_its_golden_comment_says(path: Path) -> None:
    assert golden()[path] == path.read_text(encoding="utf-8")


def test_no_golden_comment_is_left_over() -> None:
    assert set(EXPECTED.glob("*.md")) == set(golden())


def hostile(name: str) -> Report:
    """A report of a fork that chose every name it could choose."""
    term = (f"{name}", f"!{name}x")
    named: tuple[Effect, ...] = (
        effect(*term, ratio=1.2, aliases=((name,), (name, name)), metric="cpu"),
        effect(f"{name}=3", ratio=1.1, metric=name[:100]),
    )
    moved = ConfigurationChange(
        options={name: name, f"{name}2": True},
        metric="cpu",
        ratio=1.2,
        interval=(1.1, 1.3),
        pairs=3,
        failed_pairs=1,
        failure=name,
        state="slower",
    )
    default = moved.model_copy(
        update={"options": {name: "x"}, "default": True, "state": "failed", "ratio": None}
    )
    return report(
        verdict="regression",
        subject=name,
        base=RevisionRef(revision=name, label=name),
        head=RevisionRef(revision=name, label=name),
        effects=named,
        suspects=Suspects(
            options=named,
            methods=(
                MethodSuspect(
                    method=name,
                    file=name,
                    line=3,
                    base_self_seconds=1.0,
                    head_self_seconds=2.0,
                    calls=(1, 2),
                    share_of_change=0.5,
                    terms=(term,),
                ),
            ),
        ),
        configurations=(default, moved),
        visible=Visible(
            options=(VisibleOption(option=name, slow_down=0.1),),
            levels_not_exercised=(name,),
            pairs_not_exercised=((name, name),),
        ),
        environment=builders.ENVIRONMENT.model_copy(
            update={"cpu": name, "kernel": name, "image": name, "tools": {name: name}}
        ),
        history=builders.HISTORY.model_copy(update={"source": name}),
        reproduce=(Reproduction(options={name: name}, commands=(name,)),),
        notes=(name[:4000],),
    )


def hostile_builds(name: str) -> Report:
    """A report whose build logs and reasons were chosen by a fork."""
    failure = BuildFailure(side="head", step=name, reason=name, log=f"{name}\n" * 20)
    return builders.unbuilt("base").model_copy(update={"build_failures": (failure,)})


@pytest.mark.parametrize(
    "make", [hostile, hostile_builds, method_reports.of_strangers, assertion_reports.of_strangers]
)
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_hostile_names_stay_names(name: str, make: Callable[[str], Report]) -> None:
    text = comment(make(name), fork=True, marker="<!-- marker -->")
    assert len(text) <= render.COMMENT_CHARACTERS and len(text.encode()) <= render.COMMENT_BYTES
    assert text.startswith("<!-- marker -->\n### ")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x00-\x09\x0b-\x1f\x7f]", text)
    tokens = GITHUB.parse(text)
    assert sum(t.type == "heading_open" for t in tokens) == 1
    assert not any(t.type in ("blockquote_open", "ordered_list_open", "hr", "code_block") for t in tokens)
    for token in tokens:
        if token.type == "html_block":
            assert OURS.sub("", token.content).strip() == ""
        for child in token.children or []:
            assert child.type not in ("image", "em_open", "s_open"), child
            if child.type == "link_open":  # of methods only, and only to the repository's files
                assert str(child.attrs["href"]).startswith(f"{method_reports.REPOSITORY}/blob/"), child
            if child.type == "html_inline":
                assert OURS.fullmatch(child.content), child
    assert text.count("<details>") == text.count("</details>") or "<details>" in name


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_summary_tells_methods_of_strangers_as_names_too(name: str) -> None:
    for token in GITHUB.parse(summary(method_reports.of_strangers(name))):
        assert token.type != "html_block" or not OURS.sub("", token.content).strip()
        for child in token.children or []:
            assert child.type not in ("image", "em_open", "s_open"), child
            assert child.type != "html_inline" or OURS.fullmatch(child.content), child
            if child.type == "link_open":
                assert str(child.attrs["href"]).startswith(f"{method_reports.REPOSITORY}/blob/"), child


@pytest.mark.parametrize("make", [hostile, method_reports.of_strangers, assertion_reports.of_strangers])
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_github_finds_nothing_to_mention_or_link(name: str, make: Callable[[str], Report]) -> None:
    for token in GITHUB.parse(comment(make(name), fork=True)):
        depth, shown = 0, ""
        for child in token.children or []:
            if child.type == "html_inline" and "code" in child.content:
                depth += -1 if "/" in child.content else 1
            if child.type == "text" and not depth:
                shown += child.content
        assert not re.search(r"@\w|#\d|(?i:gh-)\d|https?://|www\.", shown)


def crowd(count: int, name: str) -> Report:
    """Thousands of configurations, all slower, each with many long names."""
    changes = tuple(
        ConfigurationChange(
            options={f"{name}{i}-{j}": f"{name}{j}" for j in range(10)},
            default=i == 0,
            metric="cpu",
            ratio=1.5 + i / count,
            interval=(1.4, 2.6),
            pairs=3,
            state="slower",
        )
        for i in range(count)
    )
    named = tuple(effect(*(f"{name}{i}-{j}" for j in range(20)), ratio=1.5) for i in range(50))
    return builders.regression(
        configurations=changes,
        effects=named,
        suspects=Suspects(options=named),
        notes=tuple((name * 40)[:4000] for _ in range(500)),
        visible=Visible(
            options=tuple(VisibleOption(option=f"{name}{i}", slow_down=0.01) for i in range(1000)),
            pairs_not_exercised=tuple((f"{name}{i}", f"!{name}{i}") for i in range(5000)),
            pairs_not_exercised_count=480_000,
        ),
        reproduce=tuple(Reproduction(options={f"{name}{i}": True}, commands=(name * 50,)) for i in range(5)),
    )


def test_five_thousand_configurations_fit_into_a_comment() -> None:
    text = comment(crowd(5000, "option"))
    assert len(text) <= render.COMMENT_CHARACTERS
    assert "Configurations: 5,000 slower" in text
    assert "and 4,980 more configurations, in the report" in text


@pytest.mark.parametrize("name", ["`|\\<&>" * 20, "名前" * 60, "@|$#1" * 30])
def test_what_does_not_fit_is_cut_by_sections_and_named_but_never_the_headline(name: str) -> None:
    whole = crowd(300, name)
    text = comment(whole, marker="<!-- marker -->")
    assert len(text) <= render.COMMENT_CHARACTERS and len(text.encode()) <= render.COMMENT_BYTES
    assert text.startswith("<!-- marker -->\n### 🔴 Slower with ")
    assert "**What to do:**" in text
    assert "Left out, because a comment has a size limit:" in text
    assert re.search(r"size limit: .*Notes \(500\)\. The report file has everything\.", text)
    assert len(re.findall(r"^<details>", text, flags=re.M)) == len(
        re.findall(r"^</details>", text, flags=re.M)
    )


def test_the_summary_has_longer_tables_and_its_own_limit() -> None:
    text = summary(crowd(5000, "option"))
    assert len(text.encode()) <= render.SUMMARY_BYTES
    assert "and 4,900 more configurations, in the report" in text
    assert "<!--" not in text


def test_a_run_that_measured_nothing_is_never_green() -> None:
    for name, (made, fork) in states().items():
        if name != "equal_trees" and not made.measured:
            assert "🟢" not in comment(made, fork=fork)
    empty = report(spent=builders.SPENT.model_copy(update={"pairs": 0}), configurations=())
    assert comment(empty).startswith("### ⛔ Nothing was measured")


def test_a_fork_is_named_as_the_source_of_its_figures() -> None:
    assert "measured by the pull request's own workflow" in comment(report(), fork=True)
    assert "own workflow" not in comment(report())


def test_a_comment_is_told_without_the_plotting_library() -> None:
    program = (
        "import sys; from bot.report.render import comment; from tests.unit.report.builders import report; "
        "comment(report()); assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=EXPECTED.parents[1])


def test_templates_are_found_in_a_checkout_and_in_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (render.templates_folder() / "comment.md.j2").is_file()
    installed = tmp_path / "bot" / "_templates"
    installed.mkdir(parents=True)
    monkeypatch.setattr(render, "__file__", str(tmp_path / "bot" / "report" / "render.py"))
    assert render.templates_folder() == installed
