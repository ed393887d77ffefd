"""Who may ask over HTTP, by which names, and how much."""
