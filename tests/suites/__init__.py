"""Suites and client libraries that others wrote, run against the gateway."""
