"""What an endpoint can do and how it must be asked, found out by asking it, for the operator."""
