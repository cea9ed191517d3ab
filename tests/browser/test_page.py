"""The page in a real browser: it shows its headline and pictures, and asks nobody for anything."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.report.render import page
from tests.unit.report.builders import states
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
    report, fork = states()[state]
    file, log = tmp_path / "report.html", tmp_path / "net.json"
    file.write_text(page(report, fork=fork), encoding="utf-8")
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


def test_the_log_would_show_a_request(tmp_path: Path) -> None:
    file, log = tmp_path / "page.html", tmp_path / "net.json"
    file.write_text('<img src="http://127.0.0.1:9/picture.png">', encoding="utf-8")
    opened(file, tmp_path, f"--log-net-log={log}")
    assert any("127.0.0.1:9" in url for url in requests(log))
