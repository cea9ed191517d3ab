"""The same place as the end-to-end tests have."""

from tests.end_to_end.conftest import place

__all__ = ["place"]
