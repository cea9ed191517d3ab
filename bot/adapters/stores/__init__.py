"""Stores: places where the segments of a history lie, and the one port in front of them."""
