"""Releases of a real program: an exhaustive count of instructions judges what a bisection finds."""
