"""Profilers of Python programs: cProfile's counts, py-spy's shares, and an agent that times chosen calls."""
