"""Profilers: one folder a runtime, all behind the port `Profiler`."""
