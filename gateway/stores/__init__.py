"""Which store answers for a file, an endpoint or a database, and the caches before it."""
