"""Explanations of short ranges."""
