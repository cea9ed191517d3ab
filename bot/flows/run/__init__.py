"""What one analysis of base and head is given, and what its pairs amount to."""
