"""A gateway in Python: calls that are awaited, and calls that return when they are answered."""
