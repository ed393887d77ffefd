-- summary: The same for the index that finds parts of names.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX CONCURRENTLY ON {table} USING gin ({keys} gin_trgm_ops);
