"""Renders the configuration files of a trial and lays them into a copy of the checkout for each slot."""

from __future__ import annotations

import itertools
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
from jinja2.exceptions import SecurityError
from jinja2.sandbox import SandboxedEnvironment

from bot.adapters.builds import checkout
from bot.model.errors import UsageError
from bot.model.invocation import Invocation
from bot.model.sites import Site
from bot.model.space import Value
from bot.model.trials import Side

LARGEST_OUTPUT = 1 << 20
RENDER_SECONDS = 2.0
MOST_COPIES = 16
"""Copies that a slot keeps, those used last: a range has many sites."""


class _Bounded(SandboxedEnvironment):
    """A sandbox whose loops and products end: templates are the base's, so this is against mistakes."""

    intercepted_binops = frozenset(["*", "**"])

    def __init__(self) -> None:
        # Not HTML: escaping would damage the program's files.
        super().__init__(autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True)
        self.globals["range"] = self._range
        del self.globals["lipsum"]
        self.deadline = float("inf")

    def _range(self, *bounds: int) -> Iterator[int]:
        for value in range(*bounds):
            self.check()
            yield value

    def check(self) -> None:
        """Raises SecurityError when rendering takes too long."""
        if time.monotonic() > self.deadline:
            raise SecurityError(f"takes longer than {RENDER_SECONDS:.0f} s")

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Numbers only: a repeated string could take all memory, and so could a huge power."""
        if not all(isinstance(x, int | float) and abs(x) < 1e9 for x in (left, right)):
            raise SecurityError(f"`{operator}` is for numbers below 1e9 only")
        if operator == "**" and abs(right) > 64:
            raise SecurityError("the exponent is larger than 64")
        return super().call_binop(context, operator, left, right)


class ConfigFiles:
    """The subject's `files`: target path -> template path, both in the checkout.

    Templates are base's (head's where base has none), so both sides get the same bytes. As several slots
    measure at once and checkouts are read-only, each site and slot has a copy of hard links of its own below
    `scratch`, in which only these files are replaced. The paths of all have the same length.
    """

    def __init__(self, files: Mapping[str, str], sites: Mapping[Side, Site], scratch: Path) -> None:
        self._files = files
        self._sites = sites
        self._scratch = scratch
        self._rendered: dict[tuple[tuple[str, Value], ...], dict[str, str]] = {}
        self._placed: dict[int, dict[Path, tuple[tuple[str, Value], ...]]] = defaultdict(dict)
        self._numbers: dict[Path, int] = {}
        self._templates = {path: self._template(path) for path in files.values()}

    def place(self, site: Site, slot: int, invocation: Invocation) -> Path:
        """The folder a trial at this site and slot runs in; its files are those of the invocation's values.

        Raises:
            UsageError: a template fails for these values; the message names its file and line.
        """
        if not self._files:
            return site.root
        # Called by one thread for each slot; slots share nothing but what they all would compute alike.
        values = tuple(invocation.values.items())
        if values not in self._rendered:
            self._rendered[values] = {
                target: render(path, self._templates[path], dict(values))
                for target, path in self._files.items()
            }
        number = self._numbers.setdefault(site.root, len(self._numbers))
        root = self._scratch / f"site-{number:05}-slot-{slot:03}"
        copies = self._placed[slot]
        held = copies.pop(root, None)
        if held is None:
            while len(copies) >= MOST_COPIES:
                oldest = next(iter(copies))
                del copies[oldest]
                checkout.remove(oldest)
            checkout.link_copy(site.root, root)
        if held != values:
            for target, text in self._rendered[values].items():
                _replace(root, target, text)
        copies[root] = values
        return root

    def _template(self, path: str) -> str:
        for side in ("base", "head"):
            place = checkout.inside(self._sites[side].root, path)
            if place.is_file():
                if place.stat().st_size > LARGEST_OUTPUT:
                    raise UsageError(f"{path}: the template is larger than {LARGEST_OUTPUT >> 10} KiB.")
                try:
                    return place.read_text(encoding="utf-8")
                except UnicodeDecodeError:
                    raise UsageError(f"{path}: the template is not UTF-8 text.") from None
        raise UsageError(f"{path}: there is no such template, neither at base nor at head.")


def render(path: str, template: str, values: Mapping[str, Value]) -> str:
    """A template with option values as variables, and all of them in the mapping `options`.

    Raises:
        UsageError: an error in the template, or its output is too large or takes too long.
    """
    environment = _Bounded()
    environment.deadline = time.monotonic() + RENDER_SECONDS
    try:
        compiled = environment.from_string(template)
        compiled.filename = path  # where its lines are found again in a traceback
        return "".join(_limited(compiled.generate({**values, "options": dict(values)}), environment.check))
    except TemplateSyntaxError as error:
        raise UsageError(f"{path}:{error.lineno}: {error.message}.") from None
    except (TemplateError, ArithmeticError, TypeError, ValueError, AttributeError, LookupError) as error:
        raise UsageError(f"{path}:{_line(error, path)}: {_sentence(error)}.") from None


def _limited(pieces: Iterator[str], check: Callable[[], None]) -> Iterator[str]:
    size = 0
    for piece in pieces:
        check()
        size += len(piece)
        if size > LARGEST_OUTPUT:
            raise SecurityError(f"the output is larger than {LARGEST_OUTPUT >> 10} KiB")
        yield piece


def _line(error: BaseException, path: str) -> int:
    """The template's line that raised: jinja2 puts frames of the template's own name into the traceback."""
    lines = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1] if lines else 1


def _sentence(error: BaseException) -> str:
    return str(error).strip().rstrip(".").replace("\n", " ") or type(error).__name__


def _replace(root: Path, target: str, text: str) -> None:
    """Puts a file of its own in the place of a link; a sealed folder is opened for that moment."""
    place = checkout.inside(root, str(Path(target).parent / "x")).parent
    missing = [f for f in (place, *place.parents) if not f.exists()]
    existing = next(itertools.dropwhile(lambda f: not f.exists(), (place, *place.parents)))
    mode = stat.S_IMODE(existing.stat().st_mode)
    existing.chmod(0o755)
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=0o755)
        part = place / f".{Path(target).name}.part"
        part.write_text(text, encoding="utf-8")
        part.chmod(0o444)
        part.replace(place / Path(target).name)
    finally:
        existing.chmod(mode)
