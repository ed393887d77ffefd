-- summary: The columns of tables or views, with their types; none of one that is not there.
-- The type says, too, where different texts are equal: the database would take one ID for another. It has no length:
-- a cast to it cuts nothing off (without a typmod, char(36) would be `character`, which is one character).
-- $1 text[]: Their names, quoted.
-- $2 bigint: Rows at most.
SELECT q.name AS table_name, a.attname AS name,
  format_type(a.atttypid, -1) || CASE WHEN NOT c.collisdeterministic THEN ' of a nondeterministic collation' ELSE '' END AS type
FROM unnest($1::text[]) AS q(name)
JOIN pg_attribute AS a ON a.attrelid = to_regclass(q.name) AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
LIMIT $2
