"""A query that a person wrote: what it is, the process that runs it, and its answer as rows."""
