"""cProfile's counts of programs of all kinds, on every interpreter there is."""

from __future__ import annotations

import pytest

from bot.adapters.profilers.python.cprofile import CProfile
from bot.model.profiles import Method
from tests.adapters.profilers.python.programs import Checkout, calls, own, told

SHOP = {
    "shop/__init__.py": "",
    "shop/__main__.py": """
        from shop.till import main
        main()
        """,
    "shop/till.py": """
        import threading

        class Till:
            def total(self, n):
                return sum(self.price(i) for i in range(n)) + max(map(lambda i: self.price(i), range(n)))

            def price(self, i):
                def rounded(x):
                    return x * 2
                return rounded(i)

        def main():
            Till().total(100)
            thread = threading.Thread(target=served)
            thread.start()
            thread.join()

        def served():
            [greeted(i) for i in range(50)]

        def greeted(i):
            return i
        """,
}
SHOP_CALLS = {
    "shop.till:Till": 1,
    "shop.till:Till.total": 1,
    "shop.till:Till.price": 200,
    "shop.till:Till.price.<locals>.rounded": 200,
    "shop.till:main": 1,
    "shop.till:served": 1,
    "shop.till:greeted": 50,
}


@pytest.mark.parametrize("options", [[], ["-S"], ["-E"], ["-s", "-B"]])
def test_calls_are_exact_and_qualified_on_every_interpreter(
    any_checkout: Checkout, options: list[str]
) -> None:
    any_checkout.write(SHOP)
    profile = CProfile().profile(any_checkout.target(*options, "-m", "shop"))
    assert profile.outcome == "ok"
    assert told(profile) == ()
    assert calls(profile) == SHOP_CALLS


def test_what_has_no_name_counts_to_its_caller(any_checkout: Checkout) -> None:
    any_checkout.write(SHOP)
    profile = CProfile().profile(any_checkout.target("-m", "shop"))
    edges = {(a.name, b.name): cost.calls for (a, b), cost in profile.edges.items()}
    assert edges["shop.till:Till.total", "shop.till:Till.price"] == 200
    assert edges["shop.till:served", "shop.till:greeted"] == 50
    assert not [
        m.name for m in profile.methods if "lambda" in m.name or "comp>" in m.name or "genexpr" in m.name
    ]


def test_shares_sum_to_one_and_seconds_nest(any_checkout: Checkout) -> None:
    any_checkout.write(SHOP)
    profile = CProfile().profile(any_checkout.target("-m", "shop"))
    assert sum(cost.self_share for cost in profile.methods.values()) == pytest.approx(1.0)
    total, price = own(profile)["shop.till:Till.total"], own(profile)["shop.till:Till.price"]
    assert total.total_seconds is not None
    assert price.total_seconds is not None
    assert price.self_seconds is not None
    assert total.total_seconds > price.total_seconds > price.self_seconds > 0


def test_a_method_has_its_file_and_line_in_the_checkout(checkout: Checkout) -> None:
    checkout.write(SHOP)
    profile = CProfile().profile(checkout.target("-m", "shop"))
    lines = {method.name: method.line for method in profile.methods if method.file == "shop/till.py"}
    assert lines["shop.till:Till.price"] == 8
    assert Method("shop.till:main", "shop/till.py") in profile.methods
