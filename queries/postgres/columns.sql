-- summary: The columns of a table or view, with their types; none where there is no such table.
-- $1 text: Its name, quoted.
-- $2 bigint: Rows at most.
SELECT a.attname AS name, format_type(a.atttypid, NULL) AS type
FROM pg_attribute AS a
WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
LIMIT $2
