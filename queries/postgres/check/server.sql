-- summary: The server, as one row: version, replica, the time-out of this user's queries, and the trigram extension.
-- $1 bigint: Rows at most.
SELECT current_setting('server_version'), pg_is_in_recovery(),
  (SELECT s.reset_val::bigint FROM pg_settings AS s WHERE s.name = 'statement_timeout'),
  EXISTS (SELECT FROM pg_extension AS e WHERE e.extname = 'pg_trgm'),
  EXISTS (SELECT FROM pg_available_extensions AS a WHERE a.name = 'pg_trgm')
LIMIT $1
