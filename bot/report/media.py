"""Text and listings as Markdown or HTML that can only be read as themselves."""

from __future__ import annotations

import re
from itertools import groupby

from markupsafe import Markup, escape

from bot.report.formats import Listing, Prose, Span, prose


def markdown(value: object) -> str:
    """Any value of a view as GitHub-flavoured Markdown that can only be read as itself."""
    if isinstance(value, Listing):
        return _fence(value)
    spans = value.spans if isinstance(value, Prose) else prose(str(value)).spans
    groups = groupby(spans, key=lambda s: s.strong)
    texts = ((strong, "".join(_markdown_span(s) for s in group)) for strong, group in groups)
    return _line_start("".join(f"**{text}**" if strong else text for strong, text in texts))


def html(value: object) -> Markup:
    """Any value of a view as HTML."""
    if isinstance(value, Listing):
        return Markup("<pre><code>{}</code></pre>").format(value.text)
    spans = value.spans if isinstance(value, Prose) else prose(str(value)).spans
    return Markup().join(_html_span(s) for s in spans)


def _html_span(span: Span) -> Markup:
    text = Markup("<code>{}</code>").format(span.text) if span.code else escape(span.text)
    text = Markup('<a href="{}">{}</a>').format(span.link, text) if span.link else text
    return Markup("<strong>{}</strong>").format(text) if span.strong else text


def _markdown_span(span: Span) -> str:
    text = _markdown_code(span.text) if span.code else _markdown_text(span.text)
    return f"[{text}]({span.link})" if span.link else text


def _markdown_code(text: str) -> str:
    # A code span ends at a backtick and a table cell at a pipe, whatever is around them; a character
    # reference does neither, and GitHub links nothing inside <code>.
    if not re.search(r"[`|\\]", text):
        return f"`{text}`"
    return "<code>" + re.sub(r"[^0-9A-Za-z ]", lambda m: f"&#{ord(m[0])};", text) + "</code>"


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "$": "<span>$</span>"}
"""For the dollar this is GitHub's documented way to keep it out of formulas."""
_BREAK = "&#8203;"
"""A zero-width space: GitHub looks for mentions, references and addresses in the finished text."""
_SPECIAL = re.compile(
    r"(?P<entity>[&<>$])"
    r"|(?P<escape>[\\`*\[\]|~]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z]))"  # inside a word _ is only itself
    r"|(?P<linking>@(?=\w)|#(?=\d)|gh-(?=\d)|:(?=//)|www(?=\.))",
    re.IGNORECASE,
)


def _markdown_text(text: str) -> str:
    def harmless(match: re.Match[str]) -> str:
        found = match[0]
        if match["entity"]:
            return _ENTITIES[found]
        return f"\\{found}" if match["escape"] else f"{found}{_BREAK}"

    return _SPECIAL.sub(harmless, text)


def _line_start(text: str) -> str:
    return re.sub(r"^(\s*)(#|[-+](?=\s|$)|\d+(?=[.)](?:\s|$))|=+$|-+$)", _unlist, text)


def _unlist(match: re.Match[str]) -> str:
    space, found = match[1], match[2]
    return f"{space}{found}&#8203;" if found[0].isdigit() else f"{space}\\{found}"


def _fence(listing: Listing) -> str:
    longest = max((len(run) for run in re.findall(r"`+", listing.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{listing.language}\n{listing.text}\n{fence}"
