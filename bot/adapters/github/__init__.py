"""What we ask and tell GitHub, by what it is about."""
