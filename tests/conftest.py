"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# The same examples each time: a change must not fail, or pass, by luck.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
