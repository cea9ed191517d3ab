"""Simulated nights over a program that keeps moving: what is found, at which cost, and what is blamed."""
