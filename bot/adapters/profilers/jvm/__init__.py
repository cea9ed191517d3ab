"""JVM programs: flight recordings and exact calls (coarse), timed calls of chosen methods (fine)."""
