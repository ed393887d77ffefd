"""Flow control: whether, when and how often requests are sent to a server."""
