"""Programs that attack us: each attempt is really made, fails, and the run still ends clearly."""
