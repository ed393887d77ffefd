"""The exit statuses of the program other than 0 (docs/errors.md)."""

DIFFERENT = 1
"""`check` found different answers to the two clients."""

FAILED = 2

INTERRUPTED = 130
TERMINATED = 143
"""128 and the number of the signal, as shells report it."""
