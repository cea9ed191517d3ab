"""matplotlib figures as inline SVG that follows the page's light or dark colours."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from markupsafe import escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# matplotlib wants fixed colours; these stand for the page's variables and are replaced in the finished SVG.
INK, MUTED, BAD, GOOD, BAND, LINE, PAPER, PLAIN = (f"#{n:06x}" for n in range(1, 9))
REDS = tuple(f"#{n:06x}" for n in range(16, 19))
BLUES = tuple(f"#{n:06x}" for n in range(32, 35))
"""Three shades each, from faint to full, on which ink can be read."""
_VARIABLES = {INK: "--ink", MUTED: "--muted", BAD: "--bad", GOOD: "--good", BAND: "--band", LINE: "--line"}
_VARIABLES |= {PAPER: "--paper", PLAIN: "--plain"}
_VARIABLES |= {colour: f"--red-{n}" for n, colour in enumerate(REDS, 1)}
_VARIABLES |= {colour: f"--blue-{n}" for n, colour in enumerate(BLUES, 1)}
_STYLE: dict[Any, Any] = {  # matplotlib types the keys as one long Literal
    "svg.fonttype": "none",  # text stays text: readable by machines, small, in the page's font
    "svg.hashsalt": "suspects",
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
}


def drawn(
    size: tuple[float, float], draw: Callable[[Figure], None], *, alt: str, titles: Sequence[str] = ()
) -> str:
    """What `draw` puts on a figure of this size (inches) as an SVG element, described by `alt`.

    titles: shown when something is pointed at; what has the gid `title-3` is given the third, from 0.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Names may need glyphs that matplotlib's font lacks; the browser's font has them.
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        figure = Figure(figsize=size)
        draw(figure)
        buffer = StringIO()
        figure.savefig(
            buffer,
            format="svg",
            transparent=True,
            bbox_inches="tight",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    return _inline(buffer.getvalue(), alt, titles)


def _inline(svg: str, alt: str, titles: Sequence[str]) -> str:
    """The SVG element alone, with the page's colours, a description, and no ids that could clash."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' id="[A-Za-z0-9.]+_\d+"', "", svg)
    svg = re.sub(r'<g id="title-(\d+)">', lambda m: f"<g><title>{escape(titles[int(m[1])])}</title>", svg)
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)
