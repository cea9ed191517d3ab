"""The pull request of assertions: its title and text, whatever methods are called."""

from __future__ import annotations

import re

import pytest

from bot.report.assertion_proposals import BODY_CHARACTERS, proposed_body, proposed_title
from tests.unit.report.ranges.builders import proposal
from tests.unit.report.test_comment import GITHUB, NAMES


def test_a_title_says_how_much_is_to_be_reviewed() -> None:
    assert proposed_title(proposal("read", "write")) == "Performance assertions: 2 new, 1 gone"
    one = proposal("parser:read")
    alone = one.model_copy(update={"entries": one.entries[:1]})
    assert proposed_title(alone) == "Performance assertion of parser:read: 1 new"


def test_a_text_has_a_table_for_each_entry_the_new_ones_first() -> None:
    text = proposed_body(proposal("read", "write"), "v5.9")
    assert "mined `v5.9`" in text and "**How to review.**" in text
    assert text.index("new: `read`") < text.index("new: `write`") < text.index("gone: `read`")
    assert "  e1: read > read\n" in text


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_names_stay_names(name: str) -> None:
    text = proposed_body(proposal(name), name)
    kinds = {token.type for token in GITHUB.parse(text)}
    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "fence"}
    assert sum(token.type == "fence" for token in GITHUB.parse(text)) == 2
    assert not re.search("[\u202a-\u202e\x00-\x09\x0b-\x1f\x7f]", text + proposed_title(proposal(name)))


def test_what_has_no_room_is_counted() -> None:
    text = proposed_body(proposal(*(f"method{i}" * 10 for i in range(500))), "v5.9")
    assert len(text) <= BODY_CHARACTERS + 200
    assert re.search(r"\n\n\d+ more entries: see the changed file\.\n$", text)
