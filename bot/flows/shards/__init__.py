"""One analysis spread over several machines, and the one report of it."""
