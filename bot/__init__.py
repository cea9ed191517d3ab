"""Suspects: names what in a pull request made a configurable program slower."""

__version__ = "0.1.0"
