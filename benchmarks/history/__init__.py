"""How fast and in how much memory a history is read."""
