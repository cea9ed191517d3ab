"""Which estimator the command line asks for: ours, or the published one of a seed."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bot.model.errors import UsageError

Estimator: TypeAlias = Literal["ours", "published"]


def estimator(asked: str) -> Estimator:
    """The one of that name.

    Raises:
        UsageError: there is none.
    """
    match asked:
        case "ours" | "published":
            return asked
    raise UsageError(f"--estimator {asked}: not known; ours or published is allowed")
