"""Configuration files are the same bytes for both sides, and each slot has its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.adapters.builds import checkout
from bot.adapters.trials.config_files import ConfigFiles, render
from bot.model.errors import UsageError
from bot.model.invocation import Invocation
from bot.model.sites import Site
from bot.model.space import Value
from bot.model.trials import Side

VALUES: Mapping[str, Value] = {"level": 6, "x-y": True, "mode": "fast"}


def trees(path: Path, base: Mapping[str, str], head: Mapping[str, str]) -> dict[Side, Site]:
    """Two sealed checkouts with these files."""
    sites: dict[Side, Site] = {}
    sides: tuple[tuple[Side, Mapping[str, str]], ...] = (("base", base), ("head", head))
    for side, files in sides:
        for name, text in {"program": "run", **files}.items():
            target = path / side / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        checkout.seal(path / side, None)
        sites[side] = Site(side, path / side)
    return sites


def command(**values: Value) -> Invocation:
    """A trial's command with these option values."""
    return Invocation(("./program",), {}, values, None)


def test_both_sides_get_the_bytes_of_base_s_template(tmp_path: Path) -> None:
    sites = trees(tmp_path, {"c.j2": "level={{ level }}\n"}, {"c.j2": "other", "conf/app.json": "old"})
    files = ConfigFiles({"conf/app.json": "c.j2"}, sites, tmp_path)
    places = [files.place(site, 0, command(level=9)) for site in sites.values()]
    assert [(p / "conf/app.json").read_text() for p in places] == ["level=9\n", "level=9\n"]
    assert len(str(places[0])) == len(str(places[1]))
    assert (sites["head"].root / "conf/app.json").read_text() == "old"
    assert not (sites["base"].root / "conf").exists()
    assert (places[0] / "program").stat().st_ino == (sites["base"].root / "program").stat().st_ino
    for path in (places[1], *places[1].rglob("*")):
        assert path.stat().st_mode & 0o222 == 0, path
    for place in places:
        checkout.remove(place)


def test_slots_do_not_share_a_file_and_a_new_configuration_replaces_it(tmp_path: Path) -> None:
    sites = trees(tmp_path, {"c.j2": "{{ level }}"}, {})
    files = ConfigFiles({"app.cfg": "c.j2"}, sites, tmp_path)
    first, second = (
        files.place(sites["base"], 0, command(level=1)),
        files.place(sites["base"], 1, command(level=2)),
    )
    assert ((first / "app.cfg").read_text(), (second / "app.cfg").read_text()) == ("1", "2")
    assert files.place(sites["base"], 0, command(level=3)) == first
    assert ((first / "app.cfg").read_text(), (second / "app.cfg").read_text()) == ("3", "2")
    assert sorted(p.name for p in first.iterdir()) == ["app.cfg", "c.j2", "program"]
    for place in (first, second):
        checkout.remove(place)


def test_of_very_many_sites_a_slot_keeps_the_copies_it_used_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.adapters.trials.config_files.MOST_COPIES", 2)
    sites = trees(tmp_path, {"c.j2": "{{ level }}"}, {})
    files = ConfigFiles({"app.cfg": "c.j2"}, sites, tmp_path)
    third = tmp_path / "third"
    checkout.copy(sites["head"].root, third)
    base, head = sites["base"], sites["head"]
    anchor, first = (files.place(site, 0, command(level=1)) for site in (base, head))
    assert files.place(base, 0, command(level=1)) == anchor
    files.place(head, 1, command(level=1))
    second = files.place(Site("head", third), 0, command(level=1))
    assert anchor.exists() and second.exists() and not first.exists()
    assert (files.place(head, 0, command(level=2)) / "app.cfg").read_text() == "2"
    assert not anchor.exists()
    for place in tmp_path.glob("site-*"):
        checkout.remove(place)


def test_without_files_the_checkout_itself_is_used(tmp_path: Path) -> None:
    sites = trees(tmp_path, {}, {})
    assert ConfigFiles({}, sites, tmp_path).place(sites["head"], 3, command()) == sites["head"].root


def test_a_template_that_only_head_has_serves_both(tmp_path: Path) -> None:
    sites = trees(tmp_path, {}, {"c.j2": "head"})
    files = ConfigFiles({"app.cfg": "c.j2"}, sites, tmp_path)
    place = files.place(sites["base"], 0, command())
    assert (place / "app.cfg").read_text() == "head"
    checkout.remove(place)


@pytest.mark.parametrize("template", ["nowhere.j2", "../c.j2", "/etc/passwd", "out/passwd", "program/x"])
def test_a_template_that_cannot_be_had_is_one_line(tmp_path: Path, template: str) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "out").symlink_to("/etc")
    sites = trees(tmp_path, {}, {})
    with pytest.raises(UsageError):
        ConfigFiles({"app.cfg": template}, sites, tmp_path)


@pytest.mark.parametrize("target", ["../app.cfg", "/tmp/app.cfg", "out/app.cfg"])
def test_a_target_outside_the_checkout_is_refused(tmp_path: Path, target: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "out").symlink_to(outside)
    sites = trees(tmp_path, {"c.j2": "x"}, {})
    files = ConfigFiles({target: "c.j2"}, sites, tmp_path)
    with pytest.raises(UsageError):
        files.place(sites["base"], 0, command())
    assert list(outside.iterdir()) == []


def test_a_target_that_is_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "app.cfg").symlink_to(outside)
    sites = trees(tmp_path, {"c.j2": "x"}, {})
    files = ConfigFiles({"app.cfg": "c.j2"}, sites, tmp_path)
    place = files.place(sites["base"], 0, command())
    assert not (place / "app.cfg").is_symlink()
    assert outside.read_text() == "precious"
    checkout.remove(place)


def test_options_are_variables_and_a_mapping() -> None:
    text = "{{ level }} {{ options['x-y'] }} {% if mode == 'fast' %}f{% endif %} <&>\n"
    assert render("c.j2", text, VALUES) == "6 True f <&>\n"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("a\n{{ nope }}", r"c\.j2:2: 'nope' is undefined"),
        ("a\nb\n{% if %}", r"c\.j2:3: Expected an expression"),
        ("\n\n{{ 1 / 0 }}", r"c\.j2:3: division by zero"),
        ("{{ level + mode }}", r"c\.j2:1: unsupported operand"),
        ("{{ ''.__class__.__mro__ }}", r"c\.j2:1: .*unsafe"),
        ("{{ 'x' * 10 ** 9 }}", r"c\.j2:1: `\*` is for numbers"),
        ("{{ 9 ** 99 }}", r"c\.j2:1: the exponent"),
        ("{% for i in range(10 ** 8) %}{{ 'long enough to be too long' }}{% endfor %}", "output is larger"),
        ("{% include '/etc/passwd' %}", "no loader"),
    ],
)
def test_an_error_in_a_template_names_file_and_line(template: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        render("c.j2", template, VALUES)


def test_a_template_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.adapters.trials.config_files.RENDER_SECONDS", 0.05)
    loops = "{% for i in range(10 ** 8) %}{% for j in range(10 ** 8) %}{% endfor %}{% endfor %}"
    with pytest.raises(UsageError, match="takes longer"):
        render("c.j2", loops, VALUES)
