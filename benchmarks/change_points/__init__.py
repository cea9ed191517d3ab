"""Change points over commits and terms, side by side with the published algorithm."""
