"""Performance-influence models: what options do to the cost of each method and of the whole program."""
