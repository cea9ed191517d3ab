"""Writes the golden comments anew: `python -m tests.unit.report.regenerate`, then read the difference."""

from pathlib import Path

from bot.report.render import comment
from tests.unit.report.builders import states

EXPECTED = Path(__file__).resolve().parents[2] / "expected"
MARKER = "<!-- suspects:golden -->"


def golden() -> dict[Path, str]:
    """File -> comment, one per state."""
    return {
        EXPECTED / f"{name}.md": comment(report, fork=fork, marker=MARKER)
        for name, (report, fork) in states().items()
    }


if __name__ == "__main__":
    EXPECTED.mkdir(exist_ok=True)
    for path, text in golden().items():
        path.write_text(text, encoding="utf-8")
