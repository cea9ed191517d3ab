"""The published performance-influence models of methods (Weber, Apel and Siegmund, ICSE 2021)."""
