"""Profiles: what an operator says about one graph or endpoint."""
