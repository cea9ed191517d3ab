"""The same places as other tests have."""

from tests.adapters.conftest import open_path
from tests.end_to_end.conftest import nursery, place

__all__ = ["nursery", "open_path", "place"]
