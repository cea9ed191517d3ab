"""The page in a real browser: it shows its headline and pictures, and asks nobody for anything."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.report.render import page
from tests.unit.report import method_reports
from tests.unit.report.assertion_reports import crowded, held, semaphore
from tests.unit.report.builders import report, states
from tests.unit.report.ranges.builders import several

QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


def opened(file: Path, folder: Path, *flags: str) -> str:
    """What the browser made of a file, as HTML; fails when there is no browser."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    assert browser, "these tests need chromium (apt-get install chromium)"
    command = [browser, *QUIET, f"--user-data-dir={folder / 'profile'}", *flags, "--dump-dom", file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def requests(log: Path) -> list[str]:
    """Addresses that the page (not the browser itself, whose requests have no origin) began to load."""
    events = json.loads(log.read_text(encoding="utf-8"))["events"]
    asked = [e["params"] for e in events if "initiator" in e.get("params", {})]
    return [p["url"] for p in asked if p["initiator"] != "not an origin"]


@pytest.mark.parametrize("state", ["regression", "head_unbuilt"])
def test_a_page_shows_its_headline_and_asks_nobody(state: str, tmp_path: Path) -> None:
    made, fork = states()[state]
    file, log = tmp_path / "report.html", tmp_path / "net.json"
    file.write_text(page(made, fork=fork), encoding="utf-8")
    shown = opened(file, tmp_path, f"--log-net-log={log}")
    assert requests(log) == []
    assert "<h1>" in shown
    assert shown.count("<svg") == (2 if state == "regression" else 0)
    expected = "+34 % CPU time" if state == "regression" else "Nothing was measured: head did not build"
    assert expected in shown


def test_the_page_of_a_range_shows_its_plot_and_asks_nobody(tmp_path: Path) -> None:
    file, log = tmp_path / "report.html", tmp_path / "net.json"
    file.write_text(page(several()), encoding="utf-8")
    shown = opened(file, tmp_path, f"--log-net-log={log}")
    assert requests(log) == []
    assert shown.count("<svg") == 2 and "4 change points" in shown and "1 v5.3" in shown


MEASURE = """<script>
const place = element => element.getBoundingClientRect();
const boxes = [...document.querySelectorAll("svg g:has(> title) > path")].map(place);
const inside = text => boxes.some(box => box.left <= text.left && text.right <= box.right
  && box.top <= text.top + 2 && text.bottom <= box.bottom + 2);
const labels = [...document.querySelectorAll("svg:has(title) text")].filter(text => place(text).width);
const out = labels.filter(text => !inside(place(text))).map(text => text.textContent);
document.body.append(`labels: ${labels.length}, out of their boxes: ${out}.`);
document.body.append(`page overflows: ${document.documentElement.scrollWidth > innerWidth}.`);
</script>"""
"""Ours, in a copy of the page without its rule against scripts."""


@pytest.mark.parametrize(("width", "least"), [(1200, 15), (500, 5)])
def test_names_in_a_flame_graph_fit_into_their_boxes(width: int, least: int, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    source = page(method_reports.of_depth())
    rule = source.index("<meta http-equiv"), source.index('<link rel="icon"')
    file.write_text(source[: rule[0]] + source[rule[1] :] + MEASURE, encoding="utf-8")
    shown = opened(file, tmp_path, f"--window-size={width},1000")
    labels = re.search(r"labels: (\d+), out of their boxes: \.", shown)
    assert labels and int(labels[1]) >= least, shown[-600:]
    assert "page overflows: false." in shown


def test_a_flame_graph_asks_nobody(tmp_path: Path) -> None:
    file, log = tmp_path / "report.html", tmp_path / "net.json"
    file.write_text(page(method_reports.of_python()), encoding="utf-8")
    shown = opened(file, tmp_path, f"--log-net-log={log}")
    assert requests(log) == []
    assert "terser.compress:Compressor.before" in shown and shown.count("<svg") == 4


FITTING = """<script>
const place = element => element.getBoundingClientRect();
const within = (one, other) => other.left <= one.left && one.right <= other.right
  && other.top <= one.top + 2 && one.bottom <= other.bottom + 2;
const framed = [...document.querySelectorAll("svg g:has(> rect[rx]) > text")]
  .filter(text => place(text).width);
const out = framed.filter(text => !within(place(text), place(text.parentNode.querySelector("rect"))));
const every = [...document.querySelectorAll("svg text")].filter(text => place(text).width);
const cut = every.filter(text => !within(place(text), place(text.closest("svg"))));
const boxes = [...document.querySelectorAll("svg g:has(> title) > rect")].map(place).filter(box => box.width);
const meet = (one, other) => one.left < other.right && other.left < one.right
  && one.top < other.bottom && other.top < one.bottom;
const lying = boxes.filter((box, k) => boxes.some((other, j) => j < k && meet(box, other)));
document.body.append(`framed: ${framed.length}, out: ${out.map(text => text.textContent)}.`);
document.body.append(`cut: ${cut.map(text => text.textContent)}. on each other: ${lying.length}.`);
document.body.append(`page overflows: ${document.documentElement.scrollWidth > innerWidth}.`);
</script>"""


@pytest.mark.parametrize("width", [1200, 500])
def test_names_and_shares_in_pictures_of_assertions_fit(width: int, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    outcomes = (semaphore(), held(), crowded(8), crowded(60))
    source = page(report(assertions=outcomes, configurations=())).replace("<details>", "<details open>")
    rule = source.index("<meta http-equiv"), source.index('<link rel="icon"')
    file.write_text(source[: rule[0]] + source[rule[1] :] + FITTING, encoding="utf-8")
    shown = opened(file, tmp_path, f"--window-size={width},1000")
    framed = re.search(r"framed: (\d+), out: \.cut: \. on each other: 0\.", shown)
    assert framed and int(framed[1]) >= 60, shown[-900:]
    assert "page overflows: false." in shown


def test_the_log_would_show_a_request(tmp_path: Path) -> None:
    file, log = tmp_path / "page.html", tmp_path / "net.json"
    file.write_text('<img src="http://127.0.0.1:9/picture.png">', encoding="utf-8")
    opened(file, tmp_path, f"--log-net-log={log}")
    assert any("127.0.0.1:9" in url for url in requests(log))
