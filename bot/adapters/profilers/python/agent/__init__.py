"""What runs inside the program under test: standard library only, Python 3.8 on, in plain text files."""
