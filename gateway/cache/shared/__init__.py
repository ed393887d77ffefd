"""Answers that several processes share, in Valkey or Redis."""
