"""An accepted change: a slow-down that people have decided to live with, until a day."""

from __future__ import annotations

from datetime import date
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bot.model.comment_commands import read_term
from bot.model.names import Name
from bot.model.quantities import parse_fraction
from bot.model.space import Term

PATH = ".github/suspects.accepted.yml"
LONGEST_REASON = 300


def _term(value: object) -> Term:
    term = read_term(value) if isinstance(value, str) else None
    if term is None:
        raise ValueError("levels joined by + are needed, such as compress+level=9, or everything")
    return term


def _day(value: object) -> object:
    if isinstance(value, (date, str)):
        return value
    raise ValueError("a day is needed, such as 2027-03-31")


def _line(value: str) -> str:
    if not value.isprintable():
        raise ValueError("one line without hidden characters is needed")
    return value


Line: TypeAlias = Annotated[str, Field(max_length=LONGEST_REASON), AfterValidator(_line)]


class AcceptedChange(BaseModel):
    """A change of one metric for the worse in the configurations where a term holds.

    at_most: the largest change that is accepted (0.12 is 12 %); None: any. until: the last day on which it
    is. pull_request: of which it was said. by: who said so.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    term: Annotated[Term, BeforeValidator(_term)]
    metric: Name
    at_most: Annotated[float | None, Field(gt=0, allow_inf_nan=False), BeforeValidator(parse_fraction)] = None
    until: Annotated[date, BeforeValidator(_day)]
    reason: Line = ""
    pull_request: Annotated[int | None, Field(ge=1)] = None
    by: Line = ""

    def covers(self, term: Term, metric: str, ratio: float) -> bool:
        """Whether a change for the worse is this one; ratio = head / base."""
        factor = max(ratio, 1 / ratio) if ratio > 0 else float("inf")
        small = self.at_most is None or factor <= 1 + self.at_most
        return small and (self.term, self.metric) == (term, metric)
