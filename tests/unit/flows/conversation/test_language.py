"""What a comment must look like to be a command, and what every other comment gets."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.flows.conversation.language import LONGEST_BUDGET, read_command
from bot.model.comment_commands import Accept, Bisect, CommentCommand, Rerun, read_term, term_text
from bot.model.errors import UsageError

TODAY = date(2026, 11, 21)
UNDERSTOOD: dict[str, CommentCommand] = {
    "/suspects rerun": Rerun(),
    "/suspects rerun 10m": Rerun(600.0),
    "/suspects rerun 1h30m  ": Rerun(5400.0),
    "/suspects rerun\r\nthanks!\r\n> /suspects accept all": Rerun(),
    "/suspects accept everything": Accept(()),
    "/suspects accept level>=3+compress": Accept(("compress", "level>=3")),
    "/suspects accept !fast+mf=hc4+!fast": Accept(("!fast", "mf=hc4")),
    "/suspects accept mf=hc4 until 2027-03-31": Accept(("mf=hc4",), date(2027, 3, 31)),
    "/suspects accept a until 2026-11-22 größer, aber besser": Accept(
        ("a",), date(2026, 11, 22), "größer, aber besser"
    ),
    "/suspects accept a it's $(meant) `to` be {{ so }}": Accept(
        ("a",), None, "it's $(meant) `to` be {{ so }}"
    ),
    "/suspects bisect v1.0..v1.1": Bisect("v1.0", "v1.1"),
    "/suspects bisect release/2.x..main": Bisect("release/2.x", "main"),
}


@pytest.mark.parametrize("body", UNDERSTOOD)
def test_a_command_is_understood(body: str) -> None:
    assert read_command(body, today=TODAY) == UNDERSTOOD[body]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "\n/suspects rerun",
        " /suspects rerun",
        "    /suspects rerun",
        "\t/suspects rerun",
        "> /suspects rerun",
        "```\n/suspects rerun\n```",
        "`/suspects rerun`",
        "please /suspects rerun",
        "/suspect rerun",
        "/suspectsrerun",
        "/suspects\u00a0rerun",
        "/suspects\trerun",
        "/Suspects rerun",
        "\uff0fsuspects rerun",
        "\u202e/suspects rerun",
        "\ufeff/suspects rerun",
        "/\u0455uspects rerun",
        "x" * 65_536,
    ],
)
def test_what_does_not_begin_with_our_name_is_not_for_us(body: str) -> None:
    assert read_command(body, today=TODAY) is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("/suspects", "not understood"),
        ("/suspects help", "not understood"),
        ("/suspects  rerun", "not understood"),
        ("/suspects  accept a", "not understood"),
        ("/suspects rerun  10m", "one duration"),
        ("/suspects Rerun", "not understood"),
        ("/suspects rerun; rm -rf /", "not understood"),
        ("/suspects rerun 10m; rm -rf /", "one duration"),
        ("/suspects rerun 10m 20m", "one duration"),
        ("/suspects rerun 1 0m", "one duration"),
        ("/suspects rerun \uff11\uff10m", "one duration"),
        ("/suspects rerun $(id)", "one duration"),
        ("/suspects rerun -10m", "one duration"),
        ("/suspects rerun 10", "between 30s and 6h"),
        ("/suspects rerun 7h", "between 30s and 6h"),
        ("/suspects rerun " + "9" * 400, "between 30s and 6h"),
        ("/suspects rerun\u200b10m", "hidden"),
        ("/suspects rerun\t10m", "hidden"),
        ("/suspects rerun\u202810m", "hidden"),
        ("/suspects rerun\r10m", "hidden"),
        ("/suspects rerun \u202e m01", "hidden"),
        ("/suspects accept", "not understood"),
        ("/suspects accept a+", "TERM is levels"),
        ("/suspects accept +a", "TERM is levels"),
        ("/suspects accept a,b", "TERM is levels"),
        ("/suspects accept !a=1", "TERM is levels"),
        ("/suspects accept ../../x", "TERM is levels"),
        ("/suspects accept a=`id`", "TERM is levels"),
        ("/suspects accept everything+a=${{github.token}}", "TERM is levels"),
        ("/suspects accept a until tomorrow", "takes a day"),
        ("/suspects accept a until", "takes a day"),
        ("/suspects accept a until 20271231", "takes a day"),
        ("/suspects accept a until 2027-02-30", "takes a day"),
        ("/suspects accept a until 2027-13-01x", "takes a day"),
        ("/suspects accept a until \uff12\uff10\uff12\uff17-01-01", "takes a day"),
        ("/suspects accept a until 2026-11-21", "2026-11-21 is not in the future"),
        ("/suspects accept a until 1999-01-01", "1999-01-01 is not in the future"),
        ("/suspects accept a " + "x" * 201, "a reason has at most 200"),
        ("/suspects accept " + "a+" * 300 + "a", "at most 500 characters"),
        ("/suspects bisect v1", "two revisions"),
        ("/suspects bisect v1...v2", "two revisions"),
        ("/suspects bisect v1..v2..v3", "two revisions"),
        ("/suspects bisect ..v2", "two revisions"),
        ("/suspects bisect --all..v2", "two revisions"),
        ("/suspects bisect v1..-x", "two revisions"),
        ("/suspects bisect a@{1}..b", "two revisions"),
        ("/suspects bisect a b", "not understood"),
        ("/suspects rerun\n/suspects accept a", "one command a comment"),
        ("/suspects rerun\r\n\r\n/suspects rerun\r\n", "one command a comment"),
        ("/suspects rerun\n/suspects", "one command a comment"),
    ],
)
def test_what_is_addressed_to_us_and_not_understood_is_said(body: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_command(body, today=TODAY)


@given(st.text(max_size=300), st.sampled_from(["", "rerun ", "accept ", "accept a ", "bisect "]))
def test_any_text_is_read_or_refused(text: str, verb: str) -> None:
    try:
        found = read_command(f"/suspects {verb}{text}", today=TODAY)
    except UsageError as error:
        assert len(str(error)) < 200 and "\n" not in str(error)
        return
    assert found is not None
    assert not isinstance(found, Rerun) or (found.budget or 60.0) <= LONGEST_BUDGET
    assert not isinstance(found, Accept) or found.reason.isprintable()


@pytest.mark.parametrize("filler", ["1.1", "a+", "1m", ".", "9", " 1", "@{"])
def test_a_giant_command_is_not_even_looked_at(filler: str) -> None:
    for verb in ("rerun", "accept", "accept a until", "bisect"):
        with pytest.raises(UsageError, match="at most 500 characters"):
            read_command(f"/suspects {verb} " + filler * (65_000 // len(filler)), today=TODAY)


def test_a_term_is_written_as_it_is_read() -> None:
    for term in ((), ("a",), ("!b", "a=1", "c>=2.5")):
        assert read_term(term_text(term)) == term
