"""Who is measured: each answers a question in its own way and says how large the answer is."""
