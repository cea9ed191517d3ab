"""Which options drive which methods: what is profiled for it, and what is learnt."""
