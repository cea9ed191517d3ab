"""From a report to a comment, a step summary and a page, through the templates."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bot.model.report import Report
from bot.report.media import html, markdown
from bot.report.parts import Section, View
from bot.report.view import view

COMMENT_CHARACTERS, COMMENT_BYTES = 60_000, 65_000
"""GitHub refuses a comment of more than 65,536 characters."""
SUMMARY_CHARACTERS, SUMMARY_BYTES = 500_000, 1_000_000
"""GitHub refuses a step summary of more than 1 MiB."""
SUMMARY_ROWS, PAGE_ROWS = 100, 1000


def comment(report: Report, *, fork: bool = False, marker: str = "") -> str:
    """The pull request's comment in Markdown, below `marker` (a hidden line that finds it again).

    Too long a comment loses whole sections, the least important first, and says which; never the headline.
    """
    told = view(report, fork=fork)
    return _fitted("comment.md.j2", told, limits=(COMMENT_CHARACTERS, COMMENT_BYTES), marker=marker)


def summary(report: Report, *, fork: bool = False) -> str:
    """The step summary in Markdown: the comment with longer tables."""
    told = view(report, fork=fork, rows=SUMMARY_ROWS)
    return _fitted("summary.md.j2", told, limits=(SUMMARY_CHARACTERS, SUMMARY_BYTES))


def page(report: Report, *, fork: bool = False) -> str:
    """A self-contained HTML page: no script, no request; the report itself lies inside, to download."""
    from bot.report.pictures import configurations, effects
    from bot.report.ranges.plot import plots

    told = view(report, fork=fork, rows=PAGE_ROWS, drawn=True)
    data = base64.b64encode(report.model_dump_json(indent=1).encode()).decode()
    pictures = {
        "suspects": (effects(report),),
        "configurations": (configurations(report),),
        "series": plots(report),
    }
    template = _environment(html).get_template("page.html.j2")
    shown = {
        key: [Markup(svg) for svg in svgs]  # noqa: S704 - escaped by matplotlib
        for key, svgs in pictures.items()
        if any(svgs)
    }
    return template.render(view=told, pictures=shown, data=data, moved=bool(report.change_points))


def rendered(template: str, medium: Callable[[object], str], **values: object) -> str:
    """A file of templates/ in a medium, every value escaped for it."""
    return _environment(medium).get_template(template).render(values)


def plain(template: str, **values: object) -> str:
    """A file of templates/ that is neither Markdown nor HTML (YAML), with values as they are."""
    return _environment(str).get_template(template).render(values)


def templates_folder() -> Path:
    """Where the templates lie: inside the package when installed, at the root of a checkout otherwise."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_templates"
    return installed if installed.is_dir() else package.parent / "templates"


def _fitted(template: str, told: View, *, limits: tuple[int, int], marker: str = "") -> str:
    """Renders with as many of the leading sections as fit."""
    characters, size = limits
    kept = list(told.sections)
    cut: list[Section] = []
    while True:
        text = _environment(markdown).get_template(template).render(
            view=told, sections=kept, cut=cut, marker=Markup(marker)  # noqa: S704 - the caller's own line
        )  # fmt: skip
        if (len(text) <= characters and len(text.encode()) <= size) or not kept:
            return text
        cut.insert(0, kept.pop())


@lru_cache(maxsize=3)
def _environment(medium: Callable[[object], str]) -> Environment:
    """Templates whose every expression passes through `medium`: none can forget to escape."""

    def finalize(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(medium(value))  # noqa: S704 - what medium is for

    return Environment(
        loader=FileSystemLoader(templates_folder()),
        autoescape=True,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
