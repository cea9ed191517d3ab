"""Methods of two builds: which is which, and which of them moved."""
