"""Who may ask over HTTP."""
