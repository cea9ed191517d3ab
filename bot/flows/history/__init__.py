"""What history lets an analysis expect: noise, changes, accepted ones, and where to aim."""
