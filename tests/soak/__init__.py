"""Thousands of calls through the fault proxy, each answer compared with the oracle's: `make soak`."""
