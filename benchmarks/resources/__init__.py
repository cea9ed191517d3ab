"""What resource features find: noise of counts, unit costs, known heads, false names."""
