from __future__ import annotations

from bot.analysis.published.cache import EVERYTHING, HEAVIEST, SolutionCache
from bot.analysis.published.design import columns, design_matrix
from bot.analysis.published.naming import Naming
from bot.model.space import Option, Space, Term

SPACE = Space(
    (
        Option("a", "flag", (False, True), False),
        Option("b", "flag", (False, True), False),
        Option("mode", "choice", ("fast", "safe"), "fast"),
    )
)
COLUMNS = columns(SPACE)  # a, b, mode=fast, mode=safe


def _told(
    *pairs: tuple[int, int], same: tuple[frozenset[Term], ...] = ()
) -> list[tuple[int, Term, tuple[Term, ...]]]:
    naming = Naming(
        SPACE,
        COLUMNS,
        possible=lambda term: not {"mode=fast", "mode=safe"} <= set(term),
        equivalent=lambda one, two: any({one, two} <= group for group in same),
    )
    cache = SolutionCache(tuple((pair, HEAVIEST) for pair in pairs))
    return [(b.commit, b.term, b.aliases) for b in naming.blamed(cache)]


def test_columns_are_switches_and_single_values() -> None:
    assert [str(level) for level in COLUMNS] == ["a", "b", "mode=fast", "mode=safe"]
    assert design_matrix(SPACE, COLUMNS, [(True, False, "safe")]).tolist() == [[1, 0, 0, 1]]
    assert design_matrix(SPACE, COLUMNS, []).shape == (0, 4)


def test_options_at_the_same_commit_are_one_interaction() -> None:
    assert _told((10, 1), (12, 0), (40, 1)) == [(10, ("a", "b"), ()), (40, ("b",), ())]


def test_the_intercept_is_every_configuration() -> None:
    assert _told((10, EVERYTHING)) == [(10, (), ())]
    assert _told((10, EVERYTHING), (11, 0)) == [(10, (), ()), (11, ("a",), ())]


def test_options_that_exclude_each_other_are_no_interaction() -> None:
    assert _told((10, 2), (10, 3)) == [(10, ("mode=fast",), ()), (10, ("mode=safe",), ())]


def test_the_shortest_then_first_of_equivalent_terms_is_said() -> None:
    same = (frozenset({("a", "b"), ("b",), ("mode=safe",)}),)
    assert _told((10, 0), (10, 1), same=same) == [(10, ("b",), (("mode=safe",), ("a", "b")))]


def test_confidence_is_the_least_of_an_interaction() -> None:
    naming = Naming(SPACE, COLUMNS, possible=lambda _: True, equivalent=lambda *_: False)
    cache = SolutionCache((((10, 0), HEAVIEST), ((10, 1), HEAVIEST / 2)))
    assert [b.confidence for b in naming.blamed(cache)] == [0.5]
