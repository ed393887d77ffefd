"""What is published: the wheel, the bundle for Claude Desktop, and the entry of the MCP registry."""
