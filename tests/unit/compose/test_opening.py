"""What a proof by revert says when it cannot be built."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from bot.compose import opening
from bot.compose.opening import Opener
from bot.model.profiles import Method
from bot.model.revisions import Build, Comparison, Revision
from bot.model.trials import Side

HEAD = Revision("b" * 40, "b" * 40, "head")


class Failing(Opener):
    """Builds that end without success once they took `takes` seconds, or are stopped."""

    takes = 0.0

    def _workshop(self, stop: Callable[[], bool]) -> Any:
        def build(_comparison: Comparison, *, trusted: bool) -> Mapping[Side, Build]:
            assert not trusted
            waited = threading.Event()
            while self.takes and not stop():
                waited.wait(0.01)
            return {"base": Build("base", ok=False), "head": Build("head", ok=True)}

        return SimpleNamespace(build=build, sites=lambda: {"head": None})


@pytest.mark.parametrize(
    ("takes", "said"),
    [(0.0, "does not build, so it proves nothing."), (60.0, "There was no time to build head without")],
)
def test_a_build_that_was_stopped_is_not_called_one_that_fails(
    monkeypatch: pytest.MonkeyPatch, takes: float, said: str
) -> None:
    monkeypatch.setattr(opening, "extent_at", lambda *_: range(1, 3))
    monkeypatch.setattr(opening, "without", lambda *_: HEAD)
    nothing = cast(Any, None)
    run = cast(Any, SimpleNamespace(stop=threading.Event()))
    opener = Failing(nothing, nothing, Comparison(HEAD, HEAD), run, {}, Path("unused"), {}, "")
    monkeypatch.setattr(Failing, "takes", takes)
    bench, note = opener.reverted(Method("find", "find.c", 1), 0.1, rng=np.random.default_rng(0))
    assert bench is None and said in note and "`find`" in note
