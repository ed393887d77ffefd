"""Exit statuses of the program, beside 0 (documented in docs/errors.md)."""

DIFFERENT = 1
"""`check` found that two clients are answered differently."""

FAILED = 2
INTERRUPTED = 130
TERMINATED = 143
