"""MCP: the six tools as a model sees them, their errors, and the two transports."""
