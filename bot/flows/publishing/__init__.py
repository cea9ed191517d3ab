"""What the trusted second stage does with an untrusted report."""
