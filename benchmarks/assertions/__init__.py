"""Performance assertions against generated calls and call paths of which the truth is known."""
