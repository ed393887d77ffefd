-- summary: The statement that an operator is shown for an index that is missing; this program does not run it.
CREATE INDEX CONCURRENTLY ON {table} ({keys});
