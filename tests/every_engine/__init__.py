"""Tests that run on every engine: what depends on how an engine answers."""
