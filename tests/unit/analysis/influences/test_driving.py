"""Which terms drive a method."""

from __future__ import annotations

from bot.analysis.influences.driving import driving_terms
from bot.analysis.influences.explaining import TermInfluence
from bot.model.space import Term


def told(*terms: tuple[Term, float], method: str = "m", width: float = 0.01) -> list[TermInfluence]:
    return [
        TermInfluence(method, term, value, (value - width, value + width), 0.5, 0.02, 0.01)
        for term, value in terms
    ]


def test_the_strongest_terms_drive_a_method_whatever_their_sign() -> None:
    found = told(((), 1.0), (("a",), 0.2), (("b",), -0.5), (("c",), 0.09))
    assert driving_terms(found, "m") == (("b",), ("a",))


def test_a_term_that_may_do_nothing_drives_nothing() -> None:
    assert driving_terms(told(((), 1.0), (("a",), 0.5), width=0.6), "m") == ()


def test_an_interaction_is_told_only_where_it_is_stronger_than_its_levels() -> None:
    found = told(((), 1.0), (("a",), 0.5), (("b",), 0.2), (("a", "b"), 0.4), (("c", "d"), 0.3))
    assert driving_terms(found, "m") == (("a",), ("c", "d"), ("b",))


def test_another_methods_terms_and_an_unknown_method() -> None:
    assert driving_terms(told(((), 1.0), (("a",), 0.5), method="other"), "m") == ()
