"""The work behind each tool: one module for each kind of question."""
