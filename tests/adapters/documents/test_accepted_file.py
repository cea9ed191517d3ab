"""The file of accepted changes: read, refused in one line, and given one more entry."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.documents.accepted_file import HEADER, read_accepted, with_entry
from bot.model.accepted import AcceptedChange
from bot.model.errors import UsageError

ENTRY = AcceptedChange(
    term="!fast+compress", metric="cpu", at_most="12%", until=date(2027, 3, 31), reason="worth it"
)
FILE = """\
version: 1
accepted:
# The team's decision of May.
- term: mf=hc4
  metric: max_rss
  until: 2027-01-01
  reason: more memory, less time
"""


def test_an_entry_is_read() -> None:
    (found,) = read_accepted(FILE, name="a.yml")
    assert (found.term, found.metric, found.until) == (("mf=hc4",), "max_rss", date(2027, 1, 1))
    assert found.at_most is None and found.covers(("mf=hc4",), "max_rss", 9.0)
    assert not found.covers((), "max_rss", 1.1) and not found.covers(("mf=hc4",), "cpu", 1.1)
    assert read_accepted("", name="a.yml") == ()


def test_a_change_beyond_its_bound_is_not_covered() -> None:
    assert ENTRY.covers(("!fast", "compress"), "cpu", 1.12)
    assert not ENTRY.covers(("!fast", "compress"), "cpu", 1.13)
    assert ENTRY.covers(("!fast", "compress"), "cpu", 1 / 1.1)  # of a metric where more is better
    assert not ENTRY.covers(("!fast", "compress"), "cpu", 0.0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("version: 1", "version: 2", "a.yml:1: version: input should be 1"),
        ("version: 1\n", "", "a.yml:1: version: field required"),
        ("  metric: max_rss\n", "", "a.yml:4: accepted.0.metric: field required"),
        ("  until: 2027-01-01\n", "", "a.yml:4: accepted.0.until: field required"),
        ("2027-01-01", "soon", "a.yml:6: accepted.0.until: input should be a valid date"),
        ("2027-01-01", "20270101", "a.yml:6: accepted.0.until: a day is needed, such as 2027-03-31"),
        ("2027-01-01", "2027-02-30", "a.yml:6: not YAML"),
        ("mf=hc4", "mf hc4", "a.yml:4: accepted.0.term: levels joined by [+] are needed"),
        ("mf=hc4", "[mf=hc4]", "a.yml:4: accepted.0.term: levels joined by [+] are needed"),
        ("mf=hc4", "!fast", "a.yml:4: "),
        ("reason:", "because:", "a.yml:7: accepted.0.because: extra inputs are not permitted"),
        ("more memory", '"\\u202emore"', "a.yml:7: "),
        ("reason: more memory, less time", 'reason: "a\\nb"', "one line without hidden characters"),
        ("reason: more", "at_most: lots\n  reason: more", "a.yml:7: accepted.0.at_most: a percentage"),
        ("accepted:\n", "accepted: yes\n", "a.yml:"),
        (FILE, "- a list", "a.yml:1: "),
    ],
)
def test_what_is_wrong_is_one_line_with_its_key(old: str, new: str, words: str) -> None:
    assert old in FILE
    with pytest.raises(UsageError, match=words) as raised:
        read_accepted(FILE.replace(old, new), name="a.yml")
    assert "\n" not in str(raised.value)


def test_the_first_entry_makes_the_file() -> None:
    text = with_entry("", ENTRY)
    assert text.startswith(HEADER) and "- term: '!fast+compress'\n  metric: cpu\n  at_most: 12%\n" in text
    assert read_accepted(text, name="a.yml") == (ENTRY,)


def test_one_more_entry_leaves_the_others_and_their_comments() -> None:
    text = with_entry(FILE, ENTRY)
    assert text.startswith(FILE)
    assert [one.metric for one in read_accepted(text, name="a.yml")] == ["max_rss", "cpu"]


def test_a_later_entry_of_the_same_term_and_metric_replaces_the_earlier() -> None:
    later = ENTRY.model_copy(update={"until": date(2028, 1, 1)})
    assert read_accepted(with_entry(with_entry("", ENTRY), later), name="a.yml") == (later,)


def test_a_file_without_entries_gets_its_first() -> None:
    assert read_accepted(with_entry("version: 1\naccepted: []\n", ENTRY), name="a.yml") == (ENTRY,)
    assert read_accepted(with_entry("version: 1\n", ENTRY), name="a.yml") == (ENTRY,)


def test_a_file_that_is_wrong_gets_none() -> None:
    with pytest.raises(UsageError):
        with_entry("version: 7\n", ENTRY)


def test_any_bound_is_written_as_it_is_read() -> None:
    for percent in (0.5, 7, 12.25, 135, 9900):
        entry = ENTRY.model_copy(update={"at_most": percent / 100})
        assert read_accepted(with_entry("", entry), name="a.yml") == (entry,)


@given(st.text(max_size=60).filter(str.isprintable))
def test_any_reason_is_written_as_it_was_said(reason: str) -> None:
    entry = ENTRY.model_copy(update={"reason": reason})
    assert read_accepted(with_entry(FILE, entry), name="a.yml")[1] == entry
