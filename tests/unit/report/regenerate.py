"""Writes the golden comments anew: `python -m tests.unit.report.regenerate`, then read the difference."""

from pathlib import Path

from bot.report.render import comment
from tests.unit.report import assertion_reports, builders, method_reports, resource_reports
from tests.unit.report.ranges import builders as ranges

EXPECTED = Path(__file__).resolve().parents[2] / "expected"
MARKER = "<!-- suspects:golden -->"


def golden() -> dict[Path, str]:
    """File -> comment, one per state."""
    states = builders.states() | method_reports.states() | assertion_reports.states()
    states |= resource_reports.states()
    pulls = {name: comment(report, fork=fork, marker=MARKER) for name, (report, fork) in states.items()}
    told = pulls | {name: comment(report) for name, report in ranges.states().items()}
    return {EXPECTED / f"{name}.md": text for name, text in told.items()}


if __name__ == "__main__":
    EXPECTED.mkdir(exist_ok=True)
    for path, text in golden().items():
        path.write_text(text, encoding="utf-8")
