"""The answers below the report in our comment: one line for each command, the newest last."""

from __future__ import annotations

MARK = "<!-- suspects answers -->"
"""Nothing that is rendered can hold it: angle brackets are escaped there."""
MOST = 5
LONGEST = 1500


def answers(body: str) -> str:
    """The part of a comment from the mark on, to be kept below a newer report; "" without one."""
    _, mark, rest = body.partition(MARK)
    return f"\n\n{mark}{rest}" if mark else ""


def with_answer(body: str, comment_id: int, line: str) -> str:
    """A comment with a line for a command, instead of the one that it has; only the newest are kept."""
    report, _, rest = body.partition(MARK)
    own = f"- <!-- {comment_id} -->"
    kept = [one for one in rest.splitlines() if one.startswith("- <!--") and not one.startswith(f"{own} ")]
    lines = [*kept, f"{own} {' '.join(line.split())[:LONGEST]}"][-MOST:]
    return "\n".join([report.rstrip(), "", MARK, "**Commands**", "", *lines])
