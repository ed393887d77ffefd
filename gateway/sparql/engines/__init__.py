"""Which engine is behind an endpoint, and what that engine does differently."""
