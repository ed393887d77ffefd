"""Thousands of drawn questions, each asked on every engine and compared with the oracle."""
