"""Performance assertions: which clusters a method's calls fall into over which call paths."""
