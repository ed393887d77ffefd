"""Checks of endpoints for the operator: what an endpoint can do, and how it must be queried."""
