"""Change points over commits and terms: a sum of steps in time, each carried by one term."""
