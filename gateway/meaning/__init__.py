"""Turns texts into vectors that are near where their meanings are."""
