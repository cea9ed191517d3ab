"""CHOOSE: which configurations to measure (pure)."""
