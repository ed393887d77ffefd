-- summary: The columns of a table or view, with their types; none where there is no such table.
-- The type says, too, where different texts are equal: the database would take one ID for another. It has no length:
-- a cast to it cuts nothing off (without a typmod, char(36) would be `character`, which is one character).
-- $1 text: Its name, quoted.
-- $2 bigint: Rows at most.
SELECT a.attname AS name,
  format_type(a.atttypid, -1) || CASE WHEN NOT c.collisdeterministic THEN ' of a nondeterministic collation' ELSE '' END AS type
FROM pg_attribute AS a
LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
LIMIT $2
