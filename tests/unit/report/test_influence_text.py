from bot.model.report import Influence
from bot.report.influence_text import METHODS, influence_text


def _entry(method: str | None, term: tuple[str, ...], value: float, share: float) -> Influence:
    return Influence(
        method=method,
        term=term,
        influence=value,
        interval=(0.9 * value, 1.1 * value),
        share=share,
        error=0.052,
        noise_floor=0.01,
    )


FOUND = (
    _entry(None, (), 20.0, 1.0),
    _entry(None, ("compress",), 12.0, 0.6),
    _entry("zip:deflate", (), 9.0, 0.45),
    _entry("zip:deflate", ("compress",), 8.0, 2 / 3),
    _entry("zip:crc", (), 3.0, 0.15),
    _entry("zip:crc", ("compress",), 3.0, 0.25),
    _entry("zip:crc", ("blocks>=4", "check=crc64"), 0.002, 0.01),
)


def test_an_option_names_the_methods_behind_it_and_what_stays_unexplained() -> None:
    lines = influence_text(FOUND, option="compress").splitlines()
    assert "compress  +12 s (+11 s to +13 s) in the whole program" in lines
    assert "     67 %  zip:deflate  +8.0 s (+7.2 s to +8.8 s)" in lines
    assert "    8.3 %  not explained by these methods" in lines
    assert not any("check" in line for line in lines)


def test_a_method_names_its_options_with_error_and_noise() -> None:
    lines = influence_text(FOUND, method="crc").splitlines()
    assert lines[0] == "zip:crc  3.0 s in the mean (model error 5.2 %, noise 1 %)"
    assert lines[1] == "  compress  +3.0 s (+2.7 s to +3.3 s)  25 % of the program's influence"
    assert lines[2].startswith("  blocks>=4 + check=crc64  +2.0 ms")
    assert not any("deflate" in line for line in lines)


def test_a_number_shows_what_each_of_its_values_costs() -> None:
    curve = ((1.0, 0.5), (4.0, 1.25), (16.0, 2.0))
    number = _entry("zip:crc", ("blocks>=4",), 1.0, 0.3).model_copy(update={"curve": curve})
    assert "    1: 500 ms  4: 1.2 s  16: 2.0 s" in influence_text((number,), method="crc").splitlines()


def test_what_is_not_known_is_said() -> None:
    assert influence_text((), method=None) == "No influence model has been learnt yet.\n"
    unknown = "No influence of an option was learnt on a method nothing.\n"
    assert influence_text(FOUND, method="nothing") == unknown
    assert influence_text(FOUND, option="log") == (
        "No method and not the whole program is known to depend on log.\n"
    )


def test_names_of_methods_cannot_move_the_cursor() -> None:
    text = influence_text((_entry("evil\x1b[2J\nname", ("a",), 1.0, 0.5),))
    assert "\x1b" not in text
    assert "evil name" in text


def test_calls_are_told_of_a_method_and_not_added_to_seconds() -> None:
    calls = [
        _entry("zip:name", term, 900.0, 0.4).model_copy(update={"quantity": "calls"})
        for term in ((), ("log",))
    ]
    text = influence_text((*FOUND, *calls))
    assert "  log  +900 calls (+810 to +990)  40 % of the program's calls" in text.splitlines()
    assert "log" not in [line.partition(" ")[0] for line in text.splitlines()]


def test_of_many_methods_the_rest_is_counted() -> None:
    many = [_entry(f"m:{i}", term, 1.0, 0.01) for i in range(METHODS + 3) for term in ((), ("log",))]
    lines = influence_text(many).splitlines()
    assert lines[-1] == "3 more methods; --method shows those whose name ends so."
    assert sum(line.startswith("m:") for line in lines) == METHODS


def test_instructions_are_counted() -> None:
    found = (_entry("m", ("a",), 2e6, 0.5).model_copy(update={"quantity": "instructions"}),)
    assert "+2 M instructions (+1.8 M to +2.2 M)" in influence_text(found)


def test_of_a_tables_own_metric_nobody_knows_the_unit() -> None:
    found = (_entry("m", ("a",), 2e6, 0.5).model_copy(update={"quantity": "metric"}),)
    assert "+2 M (+1.8 M to +2.2 M)  " in influence_text(found)
