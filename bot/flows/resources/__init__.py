"""Which resources a change asks for, and what they cost."""
