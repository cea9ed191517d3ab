"""Resource features: unit costs of counted events, and which features a change costs."""
