"""Node programs: sampled stacks and exact calls (coarse), timed calls of chosen functions (fine)."""
