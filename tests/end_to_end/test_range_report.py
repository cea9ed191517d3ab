"""What a person gets from `suspects bisect`: the comment, the page and the report of one run agree."""

from __future__ import annotations

import json

from tests.end_to_end.builders import Ended, Place

CODE = """\
import numpy as np
RNG = np.random.default_rng(1)
def seconds(revision, configurations):
    values = 1.0 + 0.2 * configurations[:, 0]
    if 10 <= revision < 20:
        return np.full(len(values), np.nan)
    if revision >= 30:
        values = values + MOVE * configurations[:, 1]
    return values * np.exp(RNG.normal(0, 0.005, len(values)))
"""


def bisected(place: Place, move: float, *arguments: str) -> Ended:
    """A bisection of sixty revisions, of which ten always fail, where option b moves at 30."""
    (place.out / "model.py").write_text(CODE.replace("MOVE", str(move)))
    subject = {
        "program": {"callable": "model:seconds", "revisions": 60},
        "options": {"a": {"flag": "-a"}, "b": {"flag": "-b"}},
    }
    (place.out / "suspects.yml").write_text(json.dumps(subject))
    outputs = [f"--{kind}={place.out / name}" for kind, name in FILES.items()]
    words = ["bisect", "0..59", "--config", str(place.out / "suspects.yml"), *outputs]
    return place.suspects(*words, *arguments, cwd=place.out)


FILES = {"json": "report.json", "markdown": "report.md", "html": "report.html"}


def test_a_change_point_is_told_alike_on_the_terminal_in_markdown_and_on_the_page(place: Place) -> None:
    ended = bisected(place, 0.3)
    assert ended.code == 0 and ended.report is not None
    (point,) = ended.report["change_points"]
    assert (point["term"], point["interval"], point["before"]["revision"]) == (["b"], ["30", "30"], "29")
    markdown = (place.out / "report.md").read_text()
    assert ended.out.strip() == markdown.strip()
    assert markdown.startswith("### 🔴 Slower with `b` since revision `30`: +")
    assert "suspects pr --base 29 --head 30 --exact-base" in markdown
    assert f"--exact-base --config {place.out / 'suspects.yml'}\n" in markdown
    assert "⚠️ Trials failed " in markdown
    page = (place.out / "report.html").read_text()
    assert page.count("<svg") == 2 and "1 30" in page
    shown = ended.report["series"]
    assert shown[0]["default"] and any(s["options"]["b"] for s in shown)


def test_a_finished_search_that_found_nothing_is_green_and_says_what_it_would_have_found(
    place: Place,
) -> None:
    ended = bisected(place, 0.0)
    assert ended.code == 0 and ended.report is not None and ended.report["verdict"] == "none"
    seen = {o["option"]: o["slow_down"] for o in ended.report["visible"]["options"]}
    assert seen.keys() == {"a", "b"} and all(0.0 < value < 0.1 for value in seen.values())
    assert "### 🟢 No change found among 60 revisions" in ended.out
    assert "would have been found in four cases of five" in ended.out


def test_a_search_that_was_cut_short_is_not_green(place: Place) -> None:
    ended = bisected(place, 0.0, "--trials", "12")
    assert ended.report is not None and ended.report["verdict"] == "inconclusive"
    assert "### 🟡 Not clear" in ended.out and "changes may have been missed" in ended.out
    assert "would have been found" not in ended.out
