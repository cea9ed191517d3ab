"""The native programs' forge, for tests of all runtimes."""

from tests.adapters.profilers.native.conftest import forge

__all__ = ["forge"]
