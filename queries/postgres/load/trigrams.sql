-- summary: An index for parts of names, for which the database needs an extension.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX ON {nodes} USING gin (name gin_trgm_ops)
