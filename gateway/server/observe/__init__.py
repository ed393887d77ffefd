"""What an operator sees of a server: its health, its counts, and who asked what."""
