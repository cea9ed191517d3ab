"""Short ranges with dense steps: what searches find with few trials."""
