"""A page of HTML as large as real ones: headings, lists, links, attributes, styles and scripts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SECTIONS = 900


def write_page(path: Path, *, sections: int = SECTIONS) -> None:
    """Writes the same page each time."""
    rng = np.random.default_rng(5)
    letters = list("etaoinshrdlu")
    lexicon = ["".join(rng.choice(letters, rng.integers(2, 10))) for _ in range(2000)]

    def words(count: int) -> str:
        return " ".join(lexicon[i] for i in rng.integers(0, len(lexicon), count))

    parts = [
        "<!DOCTYPE html><html><head><title>Page</title><style>p { color : red ; margin: 0px }</style>"
        "<script>var a = 1; function f(b) { return b + a }</script></head><body>"
    ]
    for number in range(sections):
        items = "".join(f"<li><code>{words(2)}</code>" for _ in range(4))
        parts.append(
            f'<div class="{words(2)}" id="i{number}"   style="color: #ff0000; padding: 0px 0px">\n'
            f" <!-- {words(4)} --> <h2 >{words(3)}</h2><p title='{words(1)}'>{words(20)} <b>{words(2)}</b>"
            f' <a  href="https://example.org/{words(1)}">{words(2)}</a> &amp; {words(8)}</p>'
            f'<ul>{items}</ul><input type="text" disabled="disabled" value=""></div>\n'
        )
    path.write_text("".join(parts) + "</body></html>", encoding="utf-8")
