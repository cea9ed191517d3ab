"""What readers of strangers' files may answer: checked forms, short texts in one line, columns of numbers."""

from __future__ import annotations

import base64
import unicodedata
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator

MOST_NOTES, MOST_NOTE = 20, 400


class Told(BaseModel):
    """A form: nothing unknown in it, all numbers finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _packed(column: NDArray[np.int64]) -> str:
    return base64.b64encode(np.ascontiguousarray(column, "<i8").tobytes()).decode("ascii")


def _unpacked(given: object) -> NDArray[np.int64]:
    if isinstance(given, str):
        # A copy: in a read-only view sorting and writing would fail much later.
        return np.frombuffer(base64.b64decode(given, validate=True), "<i8").astype(np.int64)
    return np.asarray(given, np.int64)


def _in_one_line(text: str) -> str:
    """Without control, direction and surrogate characters."""
    return "".join(c for c in text if unicodedata.category(c)[0] != "C")


Column: TypeAlias = Annotated[NDArray[np.int64], PlainValidator(_unpacked), PlainSerializer(_packed)]
"""Whole numbers, shape (n,): eight bytes each, which in JSON are text (base64)."""
Reason: TypeAlias = Annotated[str, Field(max_length=MOST_NOTE), AfterValidator(_in_one_line)]
"""Words of a reader: a compromised one may have chosen them."""
Reasons: TypeAlias = Annotated[list[Reason], Field(max_length=MOST_NOTES)]
